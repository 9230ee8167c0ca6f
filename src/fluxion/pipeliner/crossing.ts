import type { Handling } from "../pipeline.js";
import type { Variable } from "../source/module.js";
import { enclosingFunction, isFunction, isInside, type Node } from "../source/syntax.js";
import type { Body } from "../values/things.js";
import { isOfFile } from "../values/variables.js";
import type { Territory } from "./territory.js";
import type { Whole } from "./whole.js";

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
  /** Continuations that may both run for one request. */
  areParallel(a: Territory, b: Territory): boolean;
}

/** Section 3.2: scope, stream or share, for every variable that crosses a rupture point. */
export function crossings(whole: Whole, flow: Flow, moved: ReadonlySet<Node>): Crossing[] {
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
  whole: Whole,
  flow: Flow,
  variable: Variable,
  { readers, writers }: Users,
  moved: ReadonlySet<Node>,
): Crossing | null {
  const isReceiver = whole.roles.has(variable);
  if (!isReceiver && isOfFile(variable) && writers.length === 0) return null; // a constant: every part has it
  if (!isReceiver && !isOfFile(variable) && isLocal(variable, [...readers, ...writers])) return null;
  const home = homeOf(flow, variable);
  const [main] = flow.parts;
  if (home === undefined || main === undefined) return null;
  const base = { variable, home, readers };
  if (isReceiver) return receiver(base, flow, moved);
  const users = new Set([...readers, ...writers]);
  const lasts = isOfFile(variable) && writers.length > 0;
  const [writer, ...others] = writers;
  if (writer === undefined) {
    return { ...base, writers, lasts, handling: "stream", why: "nobody writes it after it is made" };
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
  const inChain = !isOfFile(variable) && !users.has(main);
  if (upstream !== undefined && !(inChain && isChain(flow, [...users], variable))) {
    const why = `${upstream.name} reads it, and ${writer.name} writes it, which is not upstream`;
    return { ...base, writers, lasts, handling: "share", why };
  }
  const read = readers.some((reader) => reader !== writer);
  return {
    ...base,
    writers,
    lasts,
    handling: read ? "stream" : "scope",
    why: read ? `${writer.name} writes it, and what is downstream reads it` : `only ${writer.name} needs it`,
  };
}

/** Each of its users declares it anew. */
function isLocal(variable: Variable, users: readonly Territory[]): boolean {
  const declared = variable.scope.variableScope.block as unknown as Node;
  return users.every(({ bodies }) => isFunction(declared) && bodies.has(declared));
}

/**
 * The paper streams a variable of a post chain without restriction. That holds only along a single line of continuations:
 * parallel callbacks would each have a copy.
 */
function isChain(flow: Flow, users: readonly Territory[], variable: Variable): boolean {
  if (isOfFile(variable)) return false;
  return users.every((a) => users.every((b) => a === b || !flow.areParallel(a, b)));
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
  const callers = around ? flow.byBody.get(around) : undefined;
  if (callers !== undefined) return callers[0];
  for (let outer = declared; outer; outer = outer.parent ?? undefined) {
    const part = isFunction(outer) ? flow.byNode.get(outer) : undefined;
    if (part !== undefined) return part;
  }
  return flow.parts[0];
}

function startOf(variable: Variable): number {
  return (variable.identifiers[0] as unknown as Node | undefined)?.start ?? 0;
}
