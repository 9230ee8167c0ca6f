import type { Handling } from "../../pipeline.js";
import { type Body, isOfFile } from "../../points-to/index.js";
import { enclosingFunction, isFunction, isInside, type Node, type Variable } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";
import type { Territory } from "./territory.js";

/** A variable that several parts need, or that one needs from one message to the next, and what becomes of it. */
export interface Crossing {
  readonly variable: Variable;
  readonly handling: Handling;
  readonly why: string;
  readonly home: Territory;
  readonly readers: readonly Territory[];
  readonly writers: readonly Territory[];
  /** State that outlives a request. */
  readonly lasts: boolean;
}

/** Who is downstream of whom. */
export interface Flow {
  readonly parts: readonly Territory[];
  readonly byNode: ReadonlyMap<Node | null, Territory>;
  /** Whose code has a body, in the order of the parts. */
  readonly byBody: ReadonlyMap<Body, readonly Territory[]>;
  /** All that is downstream of a part. */
  below(part: Territory): ReadonlySet<Territory>;
  isDownstream(part: Territory, of: Territory): boolean;
  /** Right downstream. */
  isNext(part: Territory, to: Territory): boolean;
  /** Continuations that may both run for one request. */
  areParallel(a: Territory, b: Territory): boolean;
}

/** Of a file, not of a function; a function expression has its name for itself. */
export function isOfProgram(variable: Variable): boolean {
  return isOfFile(variable) && String(variable.scope.type) !== "function-expression-name";
}

/** Section 3.2: scope, stream or share, for every variable that crosses a rupture point. */
export function crossings(whole: WholeProgram, flow: Flow, moved: ReadonlySet<Node>): Crossing[] {
  const users = new Map<Variable, Users>();
  const of = (variable: Variable) => {
    const known = users.get(variable) ?? { readers: [], writers: [] };
    users.set(variable, known);
    return known;
  };
  for (const part of flow.parts) {
    for (const variable of part.reads.keys()) of(variable).readers.push(part);
    for (const variable of part.writes.keys()) of(variable).writers.push(part);
  }
  const inOrder = [...users].sort(([a], [b]) => startOf(a) - startOf(b));
  return inOrder.flatMap(([variable, each]) => crossing(whole, flow, variable, each, moved) ?? []);
}

interface Users {
  readonly readers: Territory[];
  readonly writers: Territory[];
}

function crossing(
  whole: WholeProgram,
  flow: Flow,
  variable: Variable,
  { readers, writers }: Users,
  moved: ReadonlySet<Node>,
): Crossing | null {
  const isReceiver = whole.roles.has(variable);
  if (!isReceiver && isOfProgram(variable) && writers.length === 0) return null; // a constant: every part has it
  if (!isReceiver && !isOfProgram(variable) && isLocal(variable, [...readers, ...writers])) return null;
  const home = homeOf(flow, variable);
  const [main] = flow.parts;
  if (home === undefined || main === undefined) return null;
  const base = { variable, home, readers };
  if (isReceiver) return receiver(base, flow, moved);
  const users = new Set([...readers, ...writers]);
  const lasts = isOfProgram(variable) && writers.length > 0;
  const [writer, ...others] = writers;
  if (writer === undefined) {
    return { ...base, writers, lasts, handling: "stream", why: "it is not written after it is made" };
  }
  if (others.length > 0 && !isChain(flow, writers, variable)) {
    return {
      ...base,
      writers,
      lasts,
      handling: "share",
      why: `${writers.map(({ name }) => name).join(" and ")} write it`,
    };
  }
  const upstream = readers.find((reader) => reader !== writer && !flow.isDownstream(reader, writer));
  const inChain = !isOfProgram(variable) && !users.has(main);
  if (upstream !== undefined && !(inChain && isChain(flow, [...users], variable))) {
    const why = `${upstream.name} reads it, and ${writer.name} writes it, which is not upstream`;
    return { ...base, writers, lasts, handling: "share", why };
  }
  const late = isOfProgram(variable)
    ? readsLate(flow, writer, readers)
    : (keptByFunction(flow, variable, writers, users) ?? goesOnMeanwhile(flow, home, writers, users));
  if (late !== null) return { ...base, writers, lasts, handling: "share", why: late };
  const read = readers.some((reader) => reader !== writer);
  return {
    ...base,
    writers,
    lasts,
    handling: read ? "stream" : "scope",
    why: read ? `${writer.name} writes it, and what is downstream reads it` : `only ${writer.name} needs it`,
  };
}

/** Each of its users declares it anew. A part inside of the function has what was there, also if it calls it again. */
function isLocal(variable: Variable, users: readonly Territory[]): boolean {
  const declared = variable.scope.variableScope.block as unknown as Node;
  if (!isFunction(declared)) return false;
  return users.every(({ node, bodies }) => bodies.has(declared) && !isBelow(node, declared));
}

/** Whether something is written inside of something else. */
export function isBelow(node: Node | null, outer: Node): boolean {
  for (let at = node?.parent; at; at = at.parent) if (at === outer) return true;
  return false;
}

/**
 * The paper streams a variable of a post chain without restriction. That holds only along a single line of continuations:
 * parallel callbacks would each have a copy.
 */
function isChain(flow: Flow, users: readonly Territory[], variable: Variable): boolean {
  if (isOfProgram(variable)) return false;
  return users.every((a) => users.every((b) => a === b || !flow.areParallel(a, b)));
}

/**
 * A message brings the value of the moment in which it is sent. That is the value that its receiver would have read, but
 * not what a part further down would, or the receiver after having waited: other requests may have written meanwhile.
 */
function readsLate(flow: Flow, writer: Territory, readers: readonly Territory[]): string | null {
  const late = readers.find(
    (each) => each !== writer && (each.waits || !flow.isNext(each, writer) || writer.waits),
  );
  return late === undefined ? null : `${late.name} reads it when ${writer.name} may have written it again`;
}

/**
 * Continuations that run side by side would each have a copy. And a part that waits has not ended when those downstream
 * run, so that what it sent may not be the last value.
 */
function goesOnMeanwhile(
  flow: Flow,
  home: Territory,
  writers: readonly Territory[],
  users: ReadonlySet<Territory>,
): string | null {
  if (users.size === 1) return null;
  for (const writer of writers) {
    if (home !== writer && flow.areParallel(home, writer)) return `${writer.name} runs several times with it`;
    for (const other of users) {
      if (other === writer) continue;
      if (flow.areParallel(other, writer)) return `${other.name} and ${writer.name} run side by side`;
      const [upper, lower] = flow.isDownstream(other, writer) ? [writer, other] : [other, writer];
      const isAtOnce = upper === writer && !lower.waits && flow.isNext(lower, upper);
      if (upper.waits && !isAtOnce) return `${upper.name} waits, and goes on while ${lower.name} uses it`;
    }
  }
  return null;
}

/** A function has the variable itself, wherever it is called; receivers of a message would have a copy. */
function keptByFunction(
  flow: Flow,
  variable: Variable,
  writers: readonly Territory[],
  users: ReadonlySet<Territory>,
): string | null {
  const declared = variable.scope.variableScope.block as unknown as Node;
  for (const reference of variable.references) {
    const around = enclosingFunction(reference.identifier as unknown as Node);
    if (around === null || around === declared || flow.byNode.has(around)) continue;
    const owner = partAround(flow, around);
    const others = [...users].some((each) => each !== owner);
    if (others && (reference.isWrite() || writers.some((each) => each !== owner)))
      return `a function in ${owner?.name} has it as well`;
  }
  return null;
}

/** The part that something is written in. */
function partAround(flow: Flow, node: Node): Territory | undefined {
  for (let outer: Node | null | undefined = node; outer; outer = outer.parent) {
    const part = isFunction(outer) ? flow.byNode.get(outer) : undefined;
    if (part !== undefined) return part;
  }
  return flow.parts[0];
}

/** What belongs to one request and cannot be copied: it stays with main, which Express calls. */
function receiver(
  { variable, home, readers }: Pick<Crossing, "variable" | "home" | "readers">,
  flow: Flow,
  moved: ReadonlySet<Node>,
): Crossing | null {
  const [main] = flow.parts;
  if (main === undefined) return null;
  const crossing = readers.filter((reader) => reader !== home || home === main);
  if (crossing.length === 0 || (crossing.length === 1 && crossing[0] === main)) return null;
  const bound = readers.filter(({ node }) => node !== null && !moved.has(node));
  const base = { variable, home, readers, lasts: false };
  if (bound.length === 0 && !readers.includes(main)) {
    return { ...base, writers: [], handling: "stream", why: "what is done to it comes back as messages" };
  }
  const held = readers.filter(({ node }) => node === null || (!moved.has(node) && isTouched(node, variable)));
  return {
    ...base,
    writers: [...new Set([main, ...held])],
    handling: "share",
    why: `${variable.name} cannot be copied and belongs to the main loop`,
  };
}

/** Used, and not only passed on to parts inside. */
function isTouched(node: Node, variable: Variable): boolean {
  return variable.references.some((each) => isInside(each.identifier as unknown as Node, node));
}

/** The part that declares a variable; a function that only others call belongs to them. */
function homeOf(flow: Flow, variable: Variable): Territory | undefined {
  const declared = variable.identifiers[0] as unknown as Node | undefined;
  const around = declared && (isFunction(declared.parent) ? declared.parent : enclosingFunction(declared));
  // A part inside of it that calls it again is further down.
  const caller = around && flow.byBody.get(around)?.find(({ node }) => !isBelow(node, around));
  if (caller) return caller;
  return declared === undefined ? flow.parts[0] : partAround(flow, declared);
}

function startOf(variable: Variable): number {
  return (variable.identifiers[0] as unknown as Node | undefined)?.start ?? 0;
}
