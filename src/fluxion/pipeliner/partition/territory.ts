import { listed } from "../../listed.js";
import type { Body } from "../../points-to/index.js";
import {
  type FunctionNode,
  type Inside,
  isFunction,
  type Node,
  type SourceModule,
  type Variable,
} from "../../source/index.js";
import { calledBySelf, heldBy, keyOfThing, type WholeProgram } from "../whole/index.js";

/** A part while it is being looked at; `node` is null for main. */
export interface Territory {
  readonly name: string;
  readonly node: FunctionNode | null;
  readonly bodies: ReadonlySet<Body>;
  readonly reads: Map<Variable, Node>;
  readonly writes: Map<Variable, Node>;
  /** It awaits something, and goes on after others have run. */
  readonly waits: boolean;
}

/** Which code belongs to which part: that of a listener without the listeners inside of it, and what it calls. */
export function territories(whole: WholeProgram, names: ReadonlyMap<FunctionNode, string>): Territory[] {
  const main = territory(whole, "main", null);
  const others = [...whole.listeners.keys()]
    .sort((a, b) => a.start - b.start)
    .map((node) => territory(whole, names.get(node) ?? "", node));
  return [main, ...others];
}

function territory(whole: WholeProgram, name: string, node: FunctionNode | null): Territory {
  const roots: Body[] =
    node === null ? [...whole.program.modules.values()].map(({ syntax }) => syntax) : [node];
  const bodies = new Set<Body>();
  const waiting = [...roots];
  let waits = false;
  for (const body of waiting) {
    const facts = whole.engine.bodies.get(body);
    const isOther = body !== node && isFunction(body) && whole.listeners.has(body);
    if (facts === undefined || bodies.has(body) || isOther) continue;
    bodies.add(body);
    for (const targets of facts.calls.values()) waiting.push(...targets);
    const inside = facts.module.inside(body);
    waiting.push(...functionsIn(whole, body, inside, node));
    waits ||= inside.waits;
  }
  const found: Territory = { name, node, bodies, reads: new Map(), writes: new Map(), waits };
  for (const body of bodies) lookAt(whole, body, found);
  return found;
}

/** Functions that are written in a body and are no listeners: they may be called from there. */
function functionsIn(
  whole: WholeProgram,
  body: Body,
  { functions }: Inside,
  part: FunctionNode | null,
): FunctionNode[] {
  const own = functions.filter((each) => !whole.listeners.has(each));
  if (part !== null || body.type !== "Program") return own;
  // Functions of a file without known callers are main's.
  const called = CALLED.get(whole) ?? calledBySelf(whole.engine);
  CALLED.set(whole, called);
  return own.filter((each) => !called.has(each));
}

/** Global names that a part uses. */
export function globalsIn(whole: WholeProgram, { bodies }: Territory): Set<string> {
  return new Set([...bodies].filter(isFunction).flatMap((body) => [...useOf(whole, body).globals]));
}

/** What one body uses, in any part. */
interface BodyUse {
  /** Global names. */
  readonly globals: Set<string>;
  readonly reads: Map<Variable, Node>;
  readonly writes: Map<Variable, Node>;
}

const CALLED = new WeakMap<WholeProgram, Set<Body>>();
const USES = new WeakMap<WholeProgram, Map<Body, BodyUse>>();

function lookAt(whole: WholeProgram, body: Body, found: Territory): void {
  const use = useOf(whole, body);
  for (const [variable, node] of use.reads) if (!found.reads.has(variable)) found.reads.set(variable, node);
  for (const [variable, node] of use.writes)
    if (!found.writes.has(variable)) found.writes.set(variable, node);
}

function useOf(whole: WholeProgram, body: Body): BodyUse {
  const known = USES.get(whole) ?? new Map<Body, BodyUse>();
  const before = known.get(body);
  if (before !== undefined) return before;
  USES.set(whole, known);
  const use: BodyUse = { globals: new Set(), reads: new Map(), writes: new Map() };
  known.set(body, use);
  const facts = whole.engine.bodies.get(body);
  if (facts === undefined) return use;
  const { module, changes } = facts;
  for (const node of module.inside(body).names) noteIdentifier(module, node, body, use);
  if (body.type === "Program" || changes.size === 0) return use;
  const changed = new Set([...changes.values()].flatMap((things) => [...things].map(keyOfThing)));
  for (const [variable, node] of use.reads) {
    const isChanged = [...heldBy(whole, variable)].some((thing) => changed.has(keyOfThing(thing)));
    if (isChanged && !use.writes.has(variable)) use.writes.set(variable, node);
  }
  return use;
}

function noteIdentifier(
  module: SourceModule,
  node: Node & { type: "Identifier" },
  body: Body,
  { reads, writes, globals }: BodyUse,
): void {
  const variable = module.variable(node);
  if (variable === null) globals.add(node.name);
  if (!variable || variable.defs.length === 0) return;
  const reference = module.reference(node);
  if (reference === undefined) return;
  // What main does before anything listens is how a variable begins, not a change of it.
  const begins = reference.init === true || body.type === "Program";
  if (reference.isWrite() && !begins && !writes.has(variable)) writes.set(variable, node);
  if (reference.isRead() && !reads.has(variable)) reads.set(variable, node);
}

/** The parts whose code has a body, in their order. */
export function partsByBody(parts: readonly Territory[]): Map<Body, Territory[]> {
  const found = new Map<Body, Territory[]>();
  for (const part of parts) for (const body of part.bodies) listed(found, body).push(part);
  return found;
}
