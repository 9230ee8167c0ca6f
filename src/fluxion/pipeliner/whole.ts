import type { Knowledge } from "../callees/knowledge.js";
import { ALIASES } from "../callees/libraries.js";
import { HANDLER_ROLES } from "../callees/web.js";
import type { ReceiverKind } from "../pipeline.js";
import type { Variable } from "../source/module.js";
import type { SourceProgram } from "../source/program.js";
import { type FunctionNode, keyOf, type Node, walk } from "../source/syntax.js";
import type { BodyFacts } from "../values/body-facts.js";
import { Engine, type EngineOptions } from "../values/engine.js";
import { escapedFrom } from "../values/escapes.js";
import type { Rupture } from "../values/ruptures.js";
import { alone, type Body, type Fact, reachable, type Thing, type Value } from "../values/things.js";
import { isReassigned } from "../values/variables.js";
import { type Looking, lookingAfter } from "./after-next.js";

/** A function that a rupture point leads to. */
export interface Listener {
  readonly node: FunctionNode;
  readonly ruptures: readonly Rupture[];
  /** Nobody calls it but the rupture points, so that its parameters are known. */
  readonly only: boolean;
}

/** What is known of a program as a whole, before single parts are asked about. */
export interface Whole {
  readonly program: SourceProgram;
  readonly knowledge: Knowledge;
  readonly engine: Engine;
  readonly ruptures: readonly Rupture[];
  readonly listeners: ReadonlyMap<FunctionNode, Listener>;
  readonly roles: ReadonlyMap<Variable, ReceiverKind>;
  /** Parameters that take a request apart where they are declared. */
  readonly patterns: ReadonlyMap<Node, ReceiverKind>;
  /** Where the program changes what the language brings along, which workers would not have. */
  readonly patched: { readonly node: Node; readonly path: string } | null;
  /** Where the time zone is changed while the program runs, which workers that have begun do not see. */
  readonly zone: Change | null;
  /** Something that a middleware does after `next()`, when synchronous handlers have answered. */
  readonly looking: Looking | null;
  /** What is changed after files were loaded: where, by the place where the thing is made. */
  readonly changed: ReadonlyMap<unknown, Change>;
  /** What was found out of variables so far: all that they hold, and where that is changed. */
  readonly held: Map<Variable, Value>;
  readonly changes: Map<Variable, Change | null>;
}

/** Where something is changed after files were loaded. */
interface Change {
  readonly node: Node;
  readonly body: Body;
  /** There it goes where others may change it, whenever they like. */
  readonly givenAway?: boolean;
}

/** Everything that can be reached from a variable. */
export function heldBy({ held, engine }: Whole, variable: Variable): Value {
  const known = held.get(variable);
  if (known !== undefined) return known;
  const found = reachable(engine.of(variable));
  held.set(variable, found);
  return found;
}

/** Where what a variable holds is changed after its file was loaded; null if nowhere. */
export function changeOf(whole: Whole, variable: Variable): Change | null {
  const known = whole.changes.get(variable);
  if (known !== undefined) return known;
  let found: Change | null = null;
  for (const thing of heldBy(whole, variable)) found ??= whole.changed.get(keyOfThing(thing)) ?? null;
  whole.changes.set(variable, found);
  return found;
}

export function lookAtWhole(program: SourceProgram, knowledge: Knowledge, inPlaceOnly = false): Whole {
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
    zone: zoneIn(engine),
    looking: lookingAfter(engine),
    changed: changedIn(engine),
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
  { program, knowledge, roles }: Whole,
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
export function roleOf(whole: Whole, engine: Engine, parameter: Node): Thing | null {
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

function patchedIn(engine: Engine): Whole["patched"] {
  for (const { changes } of engine.bodies.values()) {
    for (const [node, things] of changes) {
      for (const thing of things) {
        if (thing.kind !== "builtin" || /^process\b|^console\b/.test(thing.path)) continue;
        if (node.type === "MemberExpression" || /\.prototype$|^RegExp\./.test(thing.path))
          return { node, path: thing.path };
      }
    }
  }
  return null;
}

/** Workers begin when a program is loaded, so that what it sets by then holds for them, too. */
function zoneIn(engine: Engine): Change | null {
  for (const { body, changes } of engine.bodies.values()) {
    if (body.type === "Program") continue;
    for (const [node, things] of changes) {
      const key = node.type === "MemberExpression" ? keyOf(node, node.property) : null;
      for (const thing of things) {
        if (thing.kind !== "builtin") continue;
        const isMeant =
          thing.path === "process.env" ? key === null || key === "TZ" : key === null || key === "env";
        if (isMeant && /^process(\.env)?$/.test(thing.path)) return { node, body };
      }
    }
  }
  return null;
}

/** What tells local time would tell another one elsewhere, if the time zone changes. */
export function zoneFacts({ engine, zone }: Whole, bodies: readonly BodyFacts[]): Fact[] {
  if (zone === null) return [];
  const { line } = engine.moduleOf(zone.node).place(zone.node);
  const reason = `it tells local time, and the program may change process.env.TZ (line ${line})`;
  const advice = "tell the time in UTC, or set the time zone when the file is loaded";
  return bodies.flatMap(({ module, times }) =>
    [...times].map((node): Fact => ({ code: "HW-7002", node, module, reason, advice })),
  );
}

/** How a thing is known outside of one engine. */
export function keyOfThing(thing: Thing): unknown {
  if (thing.kind === "library") return thing.node ?? keyOfLibrary(thing.library);
  if (thing.kind === "builtin") return `builtin ${thing.path}`;
  if (thing.kind === "namespace") return thing.module;
  if (thing.kind === "receiver") return thing.variable;
  if (thing.kind === "data" && thing.owner === "unknown") return thing; // its node is the function that it is given to
  return thing.node;
}

/** What is imported by several names is one object. */
export function keyOfLibrary(library: string): string {
  return `library ${ALIASES[library] ?? library}`;
}

/** A single object that can be changed, as against code, what is imported, and data of which nothing is known. */
function isSomebodys(thing: Thing): boolean {
  if (thing.kind === "data") return thing.owner === "fresh" || thing.owner === "loaded";
  return thing.kind === "site" || (thing.kind === "library" && thing.node !== null);
}

function changedIn(engine: Engine): Map<unknown, Change> {
  const changed = new Map<unknown, Change>();
  for (const { body, changes, facts } of engine.bodies.values()) {
    if (body.type === "Program") {
      prototypesIn(changes, body, changed);
      continue;
    }
    const unknown = new Set(
      [...facts.values()].filter(({ code }) => code === "HW-7004").map(({ node }) => node),
    );
    for (const [node, things] of changes) {
      // What is given to unknown code, it may change through and through.
      for (const thing of unknown.has(node) ? reachable(things) : things) {
        const key = keyOfThing(thing);
        if (key !== null && !changed.has(key)) changed.set(key, { node, body });
      }
    }
  }
  for (const [thing, at] of escapedFrom(engine)) {
    const key = isSomebodys(thing) ? keyOfThing(thing) : null;
    if (key !== null && !changed.has(key)) changed.set(key, { ...at, givenAway: true });
  }
  return changed;
}

/** A class that is given methods from outside is not what its declaration says, even if nothing runs by then. */
function prototypesIn(
  changes: ReadonlyMap<Node, ReadonlySet<Thing>>,
  body: Body,
  changed: Map<unknown, Change>,
): void {
  for (const [node, things] of changes) {
    for (const thing of things) {
      if (thing.kind !== "data" || thing.owner !== "loaded" || thing.node === null) continue;
      const isPrototype = /^Class|Function/.test(thing.node.type);
      if (isPrototype && !changed.has(thing.node)) changed.set(thing.node, { node, body });
    }
  }
}

/** Handlers that Express calls must have answered when they return, if somebody looks. */
export function lookedAfter({ engine, looking }: Whole): Fact[] {
  return looking === null ? [] : [{ code: "HW-7010", module: engine.moduleOf(looking.node), ...looking }];
}
