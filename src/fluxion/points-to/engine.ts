import type { Code } from "../../errors.js";
import type { Knowledge } from "../callees/index.js";
import type { ReceiverKind } from "../pipeline.js";
import {
  type FunctionNode,
  isFunction,
  isInside,
  type Node,
  type SourceModule,
  type SourceProgram,
  type Variable,
} from "../source/index.js";
import { BodyFacts } from "./body-facts.js";
import { lookAtFields } from "./classes.js";
import { openEscaped } from "./escapes.js";
import { evaluate } from "./expressions.js";
import { callImplicit } from "./implicit.js";
import { Memory } from "./memory.js";
import { bind, bindDefault } from "./patterns.js";
import type { Rupture } from "./ruptures.js";
import { alone, type Body, type NamespaceThing, NONE, type Thing, type ValueSet } from "./things.js";
import { isNew, type Readers, seenBy } from "./value-cells.js";

/** More rounds than any program needs whose values are finite; each round only adds. */
const ROUNDS_MAX = 100;

export interface EngineOptions {
  readonly program: SourceProgram;
  readonly knowledge: Knowledge;
  /** Parameters that are requests, responses and the like. */
  readonly roles: ReadonlyMap<Variable, ReceiverKind>;
  /** The code that is asked about; without it, the whole program is. */
  readonly root: Node | null;
  /** A body of which only something is looked at. */
  readonly instead?: { readonly body: Body; look(engine: Engine): void };
}

/**
 * Which values may be where, and what is done to them: a points-to analysis without regard to the order of statements,
 * over the functions that a root can reach. It goes round until nothing is added any more.
 */
export class Engine extends Memory {
  readonly bodies = new Map<Body, BodyFacts>();
  readonly ruptures = new Map<Node, Rupture>();
  /** Functions whose text or number of parameters is read. */
  readonly lookedAt = new Set<Node>();
  /** Who has looked for a body that was not there. */
  readonly #missed = new Map<Body, Readers>();
  #current: BodyFacts | null = null;
  #strict = false;
  /** Something was told of a body when it was another's turn, which only holds until its own turn comes. */
  #toldOthers = false;
  /** Whether a body that is looked at says everything anew. */
  #forgets = true;

  constructor(readonly options: EngineOptions) {
    super();
  }

  get current(): BodyFacts {
    if (this.#current === null) throw new Error("nothing is being looked at");
    return this.#current;
  }

  get module(): SourceModule {
    return this.current.module;
  }

  /** While a file is loaded, as against in a function that runs later. */
  get loading(): boolean {
    return this.current.body.type === "Program";
  }

  /**
   * First everything that the text tells; then what is still not known counts as unknown. What speaks against a part is
   * written down at the end, when all is known.
   */
  run(): void {
    this.gather();
    this.#strict = true;
    for (const facts of this.bodies.values()) facts.stale ||= facts.wasUnsure;
    let round = this.#settle();
    while (this.options.root === null && openEscaped(this)) round = this.#settle();
    if (this.#toldOthers) {
      // What a call tells of a function that it calls must not be forgotten when the turn of that function comes.
      for (const facts of this.bodies.values()) {
        facts.begin();
        facts.stale = true;
      }
      this.#forgets = false;
    }
    this.#goRound(round);
  }

  /** Only what the text tells. */
  gather(): void {
    this.#goRound(this.#settle());
  }

  /** Whether unknown values will stay unknown. */
  isStrict(): boolean {
    if (!this.#strict && this.turn !== null) this.turn.wasUnsure = true;
    return this.#strict;
  }

  /** Goes round until nothing is added, and tells which way it went last. */
  #settle(): number {
    for (let round = 0; round < ROUNDS_MAX - 1; round++) {
      this.hasGrown = false;
      this.#goRound(round);
      if (!this.hasGrown) callImplicit(this);
      if (!this.hasGrown) return round;
    }
    return ROUNDS_MAX - 1;
  }

  /** Looks at the bodies for which something is new; those for which nothing is would only say the same again. */
  #goRound(round: number): void {
    // Arguments go forward, from callers to callees, and results backward: so rounds do too.
    if (round % 2 === 0) {
      for (const facts of this.bodies.values()) if (facts.stale) this.#look(facts);
    } else {
      const all = [...this.bodies.values()];
      for (let i = all.length - 1; i >= 0; i--) {
        const facts = all[i];
        if (facts?.stale) this.#look(facts);
      }
    }
  }

  #look(facts: BodyFacts): void {
    this.#current = facts;
    this.turn = facts;
    if (this.#forgets) facts.begin();
    facts.stale = false;
    const { body } = facts;
    const { instead } = this.options;
    if (body === instead?.body) {
      instead.look(this);
    } else if (body.type === "Program") {
      for (const statement of body.body) evaluate(this, statement);
    } else if (body.body !== null) {
      for (const parameter of body.params) bindDefault(this, parameter);
      const value = evaluate(this, body.body);
      if (body.type === "ArrowFunctionExpression" && body.expression) this.giveBack(body, value);
    } else {
      lookAtFields(this, body);
    }
    this.#current = null;
    this.turn = null;
  }

  /** Looks at one expression as if it stood in a body. */
  at<T>(body: Body, look: () => T): T {
    const before = this.#current;
    this.#current = this.enter(body);
    const result = look();
    this.#current = before;
    return result;
  }

  enter(body: Body): BodyFacts {
    const known = this.bodies.get(body);
    if (known !== undefined) return known;
    const facts = new BodyFacts(body, this.moduleOf(body));
    this.bodies.set(body, facts);
    this.hasGrown = true;
    isNew(this.#missed.get(body) ?? null);
    return facts;
  }

  moduleOf(node: Node): SourceModule {
    return this.options.program.moduleOf(node);
  }

  /** A thing is changed, or given to code that may change it. */
  changed(thing: Thing, node: Node): void {
    this.#toldOthers ||= this.#current !== this.turn;
    this.current.change(node, thing);
  }

  /**
   * Something goes to code that is not looked at, or to a place from which anybody may take it. From there it may come back
   * under any name, so it counts as changed. Only the whole program knows who holds what, so only there this is noted.
   */
  escape(value: ValueSet, node: Node): void {
    if (this.options.root !== null || value.size === 0) return;
    this.#toldOthers ||= this.#current !== this.turn;
    this.current.escape(node, value);
  }

  fact(code: Code, node: Node, reason: string, advice: string, repeatable = false): void {
    const { current } = this;
    this.#toldOthers ||= current !== this.turn;
    const { module } = current;
    current.tell(`${code} ${node.start} ${reason}`, { code, node, module, reason, advice, repeatable });
  }

  /** Nothing is known of what runs here, or of what is used. */
  unknown(node: Node, reason: string, advice: string): void {
    this.fact("HW-7004", node, reason, advice);
    this.current.tellUnknown(node);
  }

  /** What a call gives; it may become more. */
  call(target: FunctionNode, node: Node, args: readonly ValueSet[], self: ValueSet): ValueSet {
    this.current.call(node, target);
    this.give(target, args, self);
    if (!target.generator) return this.returned(target);
    const given = this.site(node, null, true);
    this.put(given, null, this.returned(target));
    return alone(given);
  }

  /** What a function may be called with. */
  give(target: FunctionNode, args: readonly ValueSet[], self: ValueSet): void {
    const called = this.enter(target);
    if (called.module.saysArguments && target.type !== "ArrowFunctionExpression") {
      for (const each of args) this.giveArgument(target, each);
    }
    this.giveSelf(target, self);
    const { params } = target;
    const bindTo = (to: Node, value: ValueSet) => this.at(target, () => bind(this, to, value));
    for (let i = 0; i < params.length; i++) {
      const parameter = params[i];
      if (parameter?.type === "RestElement") {
        const rest = this.site(parameter);
        for (const each of args.slice(i)) this.put(rest, null, each);
        bindTo(parameter.argument, alone(rest));
      } else if (parameter !== undefined) {
        bindTo(parameter, args[i] ?? NONE);
      }
    }
  }

  /** Whether a variable belongs to an activation of a function around the root. */
  captured(variable: Variable): boolean {
    const { root } = this.options;
    const declared = variable.scope.variableScope.block as unknown as Node;
    if (root === null || declared === root || !isFunction(declared)) return false;
    const isBelow = isInside(declared, root);
    const isAround = isInside(root, declared);
    // Places are counted in each file anew: only those of one file are inside of each other.
    if ((isBelow || isAround) && this.moduleOf(declared) === this.moduleOf(root)) return isAround;
    if (this.bodies.has(declared)) return false;
    this.#missed.set(declared, seenBy(this.turn, this.#missed.get(declared) ?? null));
    return true;
  }

  override namespace(module: SourceModule): NamespaceThing {
    this.enter(module.syntax);
    return super.namespace(module);
  }
}
