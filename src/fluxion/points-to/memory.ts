import type { ReceiverKind } from "../pipeline.js";
import type { Variable } from "../source/index.js";
import type { BodyFacts } from "./body-facts.js";
import type { EngineOptions } from "./engine.js";
import { Made, NO_FIELDS } from "./made.js";
import {
  type Body,
  type Holder,
  NONE,
  reachable,
  type Thing,
  thingsOf,
  union,
  type ValueSet,
} from "./things.js";
import { isNew, placeOf, type Readers, seenBy, type ValueCell } from "./value-cells.js";

/** What may be in variables, in fields, in what functions give back and in what requests carry; and who has looked there. */
export abstract class Memory extends Made {
  readonly #variables = new Map<Variable, ValueCell>();
  readonly #returns = new Map<Body, ValueCell>();
  readonly #selves = new Map<Body, ValueCell>();
  readonly #given = new Map<Body, ValueCell>();
  /** What the program puts into fields of requests and responses, which all parts of a request find there. */
  readonly #kept = new Map<string, ValueCell>();
  readonly #keeps = new Set<string>();
  readonly #fields = new Map<Thing, string>();
  /** The body whose turn it is, which may look at expressions of others. */
  protected turn: BodyFacts | null = null;
  /** Something was added. */
  protected hasGrown = false;

  abstract readonly options: Pick<EngineOptions, "root" | "program">;

  /** The function that is being visited has seen what is there, and is visited again when that changes. */
  #seen(place: ValueCell): ValueSet {
    place.readers = seenBy(this.turn, place.readers);
    return place.value;
  }

  /** What a variable may hold. */
  of(variable: Variable): ValueSet {
    return this.#seen(placeOf(this.#variables, variable));
  }

  /** What a function may give back. */
  returned(body: Body): ValueSet {
    return this.#seen(placeOf(this.#returns, body));
  }

  /** What `this` may be in a function. */
  self(body: Body): ValueSet {
    return this.#seen(placeOf(this.#selves, body));
  }

  /** What a function that says `arguments` may be called with. */
  given(body: Body): ValueSet {
    return this.#seen(placeOf(this.#given, body));
  }

  /** A thing that is about to be looked into. */
  inside<T extends Holder>(thing: T): T {
    thing.readers = seenBy(this.turn, thing.readers);
    return thing;
  }

  hasField(thing: Holder, key: string): boolean {
    thing.askers = seenBy(this.turn, thing.askers);
    return thing.fields.has(key);
  }

  /** Everything that can be reached from a value. */
  reachable(value: ValueSet): ValueSet {
    const found = reachable(value);
    this.options.program.effort.spend(found.size);
    for (const thing of thingsOf(found)) if ("fields" in thing) this.inside(thing);
    return found;
  }

  assign(variable: Variable, from: ValueSet): void {
    if (from.size > 0) this.#addTo(placeOf(this.#variables, variable), from);
  }

  protected giveArgument(body: Body, from: ValueSet): void {
    this.#addTo(placeOf(this.#given, body), from);
  }

  protected giveSelf(body: Body, from: ValueSet): void {
    if (from.size > 0) this.#addTo(placeOf(this.#selves, body), from);
  }

  giveBack(body: Body, from: ValueSet): void {
    if (from.size > 0) this.#addTo(placeOf(this.#returns, body), from);
  }

  /** Puts something into a thing: behind a key, or anywhere. */
  put(into: Holder, key: string | null, from: ValueSet): void {
    if (key === null && into.kind === "site") into.rest = this.#add(into.rest, from, into.readers);
    else if (key === null && into.kind === "namespace")
      into.whole = this.#add(into.whole, from, into.readers);
    else this.#putBehind(key ?? "*", into, from);
  }

  #putBehind(key: string, into: Holder, from: ValueSet): void {
    const known = into.fields.get(key);
    if (known === undefined) {
      isNew(into.readers);
      isNew(into.askers);
    }
    const kept = this.#add(known ?? NONE, from, into.readers);
    if (kept === known) return;
    if (into.fields === NO_FIELDS) into.fields = new Map([[key, kept]]);
    else (into.fields as Map<string, ValueSet>).set(key, kept);
  }

  #addTo(place: ValueCell, from: ValueSet): void {
    place.value = this.#add(place.value, from, place.readers);
  }

  /** Gives what is to be kept from now on: the same, with more in it. */
  #add(to: ValueSet, from: ValueSet, readers: Readers): ValueSet {
    if (from.size === 0) return to;
    this.options.program.effort.spend(from.size);
    const before = to.size;
    const kept = to === NONE ? new Set<Thing>() : (to as Set<Thing>);
    from.forEach(kept.add, kept);
    if (kept.size === before) return kept;
    this.hasGrown = true;
    isNew(readers);
    return kept;
  }

  /**
   * Something is put into a field of a request or response: `request.user`; `request.*` if the text does not tell. Only of
   * a whole program it is known what others have put there, so only there it is kept.
   */
  keep(field: string, from: ValueSet): void {
    if (this.options.root !== null) return;
    this.#addTo(placeOf(this.#kept, field), from);
    this.#keeps.add(field);
  }

  /** Something is put into what was read in such a field. */
  keepIn(thing: Thing, from: ValueSet): void {
    const field = this.#fields.get(thing);
    if (field !== undefined) this.keep(`${field}.*`, from);
  }

  /** A thing was read in a field. */
  readIn(receiver: ReceiverKind, key: string, thing: Thing): ValueSet {
    if (this.options.root !== null) return NONE;
    this.#fields.set(thing, `${receiver}.${key}`);
    return this.#keptIn(`${receiver}.${key}`, `${receiver}.*`);
  }

  /** What the program has put into something that was read in a field. */
  keptInside(thing: Thing): ValueSet {
    if (this.options.root !== null) return NONE;
    const field = this.#fields.get(thing);
    return field === undefined ? NONE : this.#keptIn(`${field}.*`);
  }

  #keptIn(...fields: readonly string[]): ValueSet {
    return union(...fields.map((each) => this.#seen(placeOf(this.#kept, each))));
  }

  /** The field that a thing was read in. */
  fieldOf(thing: Thing): string | undefined {
    return this.#fields.get(thing);
  }

  /** Whether the program itself puts something into a field. */
  keeps(field: string): boolean {
    return this.#keeps.has(field);
  }
}
