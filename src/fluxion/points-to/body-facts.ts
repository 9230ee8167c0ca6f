import type { FunctionNode, Node, SourceModule, Variable } from "../source/index.js";
import type { Body, Hazard, ReceiverRead, ReceiverThing, Thing, ValueSet } from "./things.js";

const NOTHING: ReadonlyMap<never, never> = new Map<never, never>();
const NO_THINGS: ReadonlySet<never> = new Set<never>();

export interface ReceiverEffect {
  readonly receiver: ReceiverThing;
  readonly node: Node;
  readonly method: string;
}

/**
 * What is known of the inside of one body. There are very many of these, and of most there is little to say: so tables
 * are only made when something is written into them.
 */
export class BodyFacts {
  readonly reads: ReceiverRead[] = [];
  readonly effects: ReceiverEffect[] = [];
  heavy = false;
  busy = false;
  waits = false;
  /** Something is new that it has looked at. */
  stale = true;
  /** It would have said something else if that was all that there is to know. */
  wasUnsure = false;
  #facts: Map<string, Hazard> | null = null;
  #unknown: Set<Node> | null = null;
  #calls: Map<Node, Set<FunctionNode>> | null = null;
  #uses: Map<Node, Variable> | null = null;
  #captures: Map<Node, Variable> | null = null;
  #names: Set<string> | null = null;
  #changes: Map<Node, Set<Thing>> | null = null;
  #escapes: Map<Node, Set<Thing>> | null = null;
  #builds: Map<Node, Set<Thing>> | null = null;
  #varies: Set<Node> | null = null;
  #times: Set<Node> | null = null;
  #watched: Set<Node> | null = null;

  constructor(
    readonly body: Body,
    readonly module: SourceModule,
  ) {}

  get facts(): ReadonlyMap<string, Hazard> {
    return this.#facts ?? NOTHING;
  }

  /** Where code runs of which nothing is known, or something is used of which nothing is. */
  get unknown(): ReadonlySet<Node> {
    return this.#unknown ?? NO_THINGS;
  }

  get calls(): ReadonlyMap<Node, ReadonlySet<FunctionNode>> {
    return this.#calls ?? NOTHING;
  }

  /** Where variables of files are used. */
  get uses(): ReadonlyMap<Node, Variable> {
    return this.#uses ?? NOTHING;
  }

  /** Where variables of functions around the root are used. */
  get captures(): ReadonlyMap<Node, Variable> {
    return this.#captures ?? NOTHING;
  }

  /** `__dirname` and the like. */
  get names(): ReadonlySet<string> {
    return this.#names ?? NO_THINGS;
  }

  /** Which things are changed, and where. */
  get changes(): ReadonlyMap<Node, ReadonlySet<Thing>> {
    return this.#changes ?? NOTHING;
  }

  /** What escapes, and where. */
  get escapes(): ReadonlyMap<Node, ReadonlySet<Thing>> {
    return this.#escapes ?? NOTHING;
  }

  /** Which things it goes on making, and where, that are not shared. */
  get builds(): ReadonlyMap<Node, ReadonlySet<Thing>> {
    return this.#builds ?? NOTHING;
  }

  /** Where it gets something that is different each time. */
  get varies(): ReadonlySet<Node> {
    return this.#varies ?? NO_THINGS;
  }

  /** Where it depends on the time zone. */
  get times(): ReadonlySet<Node> {
    return this.#times ?? NO_THINGS;
  }

  /** Where it calls a package whose calls are watched. */
  get watched(): ReadonlySet<Node> {
    return this.#watched ?? NO_THINGS;
  }

  tell(key: string, fact: Hazard): void {
    this.#facts ??= new Map();
    if (!this.#facts.has(key)) this.#facts.set(key, fact);
  }

  takeBack(key: string): void {
    this.#facts?.delete(key);
  }

  tellUnknown(node: Node): void {
    this.#unknown ??= new Set();
    this.#unknown.add(node);
  }

  call(node: Node, target: FunctionNode): void {
    this.#calls ??= new Map();
    const targets = this.#calls.get(node);
    if (targets === undefined) this.#calls.set(node, new Set([target]));
    else targets.add(target);
  }

  use(node: Node, variable: Variable): void {
    this.#uses ??= new Map();
    this.#uses.set(node, variable);
  }

  capture(node: Node, variable: Variable): void {
    this.#captures ??= new Map();
    this.#captures.set(node, variable);
  }

  name(name: string): void {
    this.#names ??= new Set();
    this.#names.add(name);
  }

  change(node: Node, thing: Thing): void {
    this.#changes ??= new Map();
    const things = this.#changes.get(node);
    if (things === undefined) this.#changes.set(node, new Set([thing]));
    else things.add(thing);
  }

  escape(node: Node, value: ValueSet): void {
    this.#escapes ??= new Map();
    const things = this.#escapes.get(node);
    if (things === undefined) this.#escapes.set(node, new Set(value));
    else for (const each of value) things.add(each);
  }

  build(node: Node, thing: Thing): void {
    this.#builds ??= new Map();
    const things = this.#builds.get(node);
    if (things === undefined) this.#builds.set(node, new Set([thing]));
    else things.add(thing);
  }

  vary(node: Node): void {
    this.#varies ??= new Set();
    this.#varies.add(node);
  }

  time(node: Node): void {
    this.#times ??= new Set();
    this.#times.add(node);
  }

  watch(node: Node): void {
    this.#watched ??= new Set();
    this.#watched.add(node);
  }

  /** It is looked at anew. What it calls and uses is still so; what speaks against it may be told better. */
  begin(): void {
    this.stale = false;
    this.wasUnsure = false;
    this.#facts = null;
    this.#unknown = null;
    this.#changes = null;
    this.#escapes = null;
    this.#builds = null;
  }
}
