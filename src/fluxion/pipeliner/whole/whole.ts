import { HANDLER_ROLES, type Knowledge } from "../../callees/index.js";
import type { ReceiverKind } from "../../pipeline.js";
import {
  alone,
  type Body,
  Engine,
  type EngineOptions,
  isReassigned,
  type Rupture,
  type Thing,
  type ValueSet,
} from "../../points-to/index.js";
import { type FunctionNode, type Node, type SourceProgram, type Variable, walk } from "../../source/index.js";
import { changedIn, type LateChange, type Patch, patchedIn } from "./changes.js";
import type { IsolationRule } from "./rules.js";

/** A function that a rupture point leads to. */
export interface Listener {
  readonly node: FunctionNode;
  readonly ruptures: readonly Rupture[];
  /** Only rupture points call it, so that its parameters are known. */
  readonly only: boolean;
}

/** What is known of a program as a whole, before single parts are asked about. */
export interface WholeProgram {
  readonly program: SourceProgram;
  readonly knowledge: Knowledge;
  readonly engine: Engine;
  readonly ruptures: readonly Rupture[];
  readonly listeners: ReadonlyMap<FunctionNode, Listener>;
  readonly roles: ReadonlyMap<Variable, ReceiverKind>;
  /** Parameters that take a request apart where they are declared. */
  readonly patterns: ReadonlyMap<Node, ReceiverKind>;
  /** Where the program changes what the language brings along, which workers would not have. */
  readonly patched: Patch | null;
  /** What is changed after files were loaded: where, by the place where the thing is made. */
  readonly changed: ReadonlyMap<unknown, LateChange>;
  /** Rules that are left out, which makes a compiler that is wrong. */
  readonly without: ReadonlySet<IsolationRule>;
  /** What was found out of variables so far: all that they hold, and where that is changed. */
  readonly held: Map<Variable, ValueSet>;
  readonly changes: Map<Variable, LateChange | null>;
}

export interface LookingOptions {
  /** Leave alone listeners that are not written where they are registered, as the paper's compiler did. */
  readonly inPlaceOnly?: boolean;
  /** Rules to be left out. Only for tests: the program would do something else. */
  readonly without?: readonly IsolationRule[];
}

export function lookAtWhole(
  program: SourceProgram,
  knowledge: Knowledge,
  { inPlaceOnly = false, without = [] }: LookingOptions = {},
): WholeProgram {
  const first = look(program, knowledge, new Map(), null);
  const all = listenersOf(first.ruptures.values(), first);
  const { roles, patterns } = rolesOf(first, all);
  const engine = look(program, knowledge, roles, calledBySelf(first));
  const ruptures = inPlaceOnly ? [...first.ruptures.values()].flatMap(inPlace) : [...first.ruptures.values()];
  const listeners = inPlaceOnly ? listenersOf(ruptures, first) : all;
  return {
    program,
    knowledge,
    engine,
    ruptures,
    listeners,
    roles,
    patterns,
    patched: patchedIn(engine),
    changed: changedIn(engine),
    without: new Set(without),
    held: new Map(),
    changes: new Map(),
  };
}

/** The paper's compiler left alone what is only known to be a function when the program runs. */
function inPlace(rupture: Rupture): Rupture[] {
  const written = new Set<Node>(rupture.node.arguments);
  const names = new Set(
    rupture.node.arguments.flatMap((each) => (each.type === "Identifier" ? [each.name] : [])),
  );
  const listeners = [...rupture.listeners].filter(
    (each) => written.has(each) || (each.id && names.has(each.id.name)),
  );
  return listeners.length === 0 ? [] : [{ ...rupture, listeners: new Set(listeners) }];
}

function look(
  program: SourceProgram,
  knowledge: Knowledge,
  roles: ReadonlyMap<Variable, ReceiverKind>,
  called: ReadonlySet<Body> | null,
): Engine {
  const engine = new Engine({ program, knowledge, roles, root: null });
  for (const module of program.modules.values()) {
    engine.enter(module.syntax);
    for (const node of module.functions) {
      engine.enter(node);
      if (called !== null) giveUnknown(engine, node, called, roles);
    }
  }
  if (called === null) engine.gather();
  else engine.run();
  return engine;
}

/** For a piece of the program, of which the whole is known. */
export function engineFor(
  { program, knowledge, roles }: WholeProgram,
  root: Node,
  instead?: EngineOptions["instead"],
): Engine {
  return new Engine({ program, knowledge, roles, root, ...(instead && { instead }) });
}

/** Functions that others call are given anything. */
function giveUnknown(
  engine: Engine,
  node: FunctionNode,
  called: ReadonlySet<Body>,
  roles: ReadonlyMap<Variable, ReceiverKind>,
): void {
  if (called.has(node)) return;
  for (const parameter of node.params) {
    walk(parameter, (each) => {
      const variable = each.type === "Identifier" ? engine.moduleOf(node).variable(each) : null;
      if (variable && !roles.has(variable)) engine.assign(variable, alone(engine.data("unknown", node)));
      return undefined;
    });
  }
}

/** Functions that the program itself calls. */
export function calledBySelf(engine: Engine): Set<Body> {
  const called = new Set<Body>();
  for (const { calls } of engine.bodies.values()) {
    for (const targets of calls.values()) for (const each of targets) called.add(each);
  }
  return called;
}

function listenersOf(all: Iterable<Rupture>, engine: Engine): Map<FunctionNode, Listener> {
  const ruptures = new Map<FunctionNode, Rupture[]>();
  const inOrder = [...all].sort((a, b) => a.node.start - b.node.start);
  for (const rupture of inOrder) {
    for (const node of rupture.listeners) ruptures.set(node, [...(ruptures.get(node) ?? []), rupture]);
  }
  const callers = new Map<FunctionNode, Set<Node>>();
  for (const { calls } of engine.bodies.values()) {
    for (const [node, targets] of calls) {
      for (const target of targets) callers.set(target, (callers.get(target) ?? new Set()).add(node));
    }
  }
  return new Map(
    [...ruptures].map(([node, own]) => {
      const places = new Set<Node>(own.map((each) => each.node));
      const only = [...(callers.get(node) ?? [])].every((each) => places.has(each));
      return [node, { node, ruptures: own, only }];
    }),
  );
}

/** What a parameter that is no name stands for. */
export function roleOf(whole: WholeProgram, engine: Engine, parameter: Node): Thing | null {
  const kind = whole.patterns.get(parameter);
  return kind === undefined ? null : engine.receiver(kind, null);
}

function rolesOf(
  engine: Engine,
  listeners: ReadonlyMap<FunctionNode, Listener>,
): { roles: Map<Variable, ReceiverKind>; patterns: Map<Node, ReceiverKind> } {
  const roles = new Map<Variable, ReceiverKind>();
  const patterns = new Map<Node, ReceiverKind>();
  for (const { node, ruptures, only } of listeners.values()) {
    const door = ruptures[0]?.door;
    if (!only || ruptures.some((each) => each.door !== door)) continue;
    if (door !== "express" && door !== "http") continue;
    const kinds =
      door === "express" && ruptures.some((each) => /\.param$/.test(each.callee))
        ? HANDLER_ROLES.parameter
        : door === "express" && node.params.length === 4
          ? HANDLER_ROLES.errorHandler
          : HANDLER_ROLES.handler;
    for (const [i, parameter] of node.params.entries()) {
      const kind = kinds?.[i];
      const variable = parameter.type === "Identifier" ? engine.moduleOf(node).variable(parameter) : null;
      if (kind === undefined || kind === "data") continue;
      if (parameter.type === "ObjectPattern") patterns.set(parameter, kind);
      if (variable && !isReassigned(variable)) roles.set(variable, kind);
    }
  }
  return { roles, patterns };
}
