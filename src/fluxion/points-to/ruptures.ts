import { TIMERS } from "../callees/index.js";
import type { RuptureKind } from "../pipeline.js";
import { type CallExpression, type FunctionNode, written } from "../source/index.js";
import type { Engine } from "./engine.js";
import { contentsOf, memberOfThing } from "./members.js";
import { type Body, joined, NONE, type Thing, thingsOf, type ValueSet } from "./things.js";

/** What makes the call of a listener: it decides what its parameters are, and what its order means. */
export type CallerKind = "express" | "http" | "emitter" | "timer" | "callback" | "then" | "named";

/** Section 3.1.1: a call of a loosely coupled function, and the functions that go on from there. */
export interface Rupture {
  readonly kind: RuptureKind;
  readonly door: CallerKind;
  readonly node: CallExpression;
  readonly callee: string;
  readonly within: Body;
  readonly listeners: Set<FunctionNode>;
}

const EMITTING = new Set(["on", "once", "addListener", "prependListener", "addEventListener"]);
const PROMISING = new Set(["then", "catch", "finally"]);

export function note(
  engine: Engine,
  node: CallExpression,
  targets: ValueSet,
  args: readonly ValueSet[],
): void {
  const remark = engine.module.remarks(node).find((each) => each === "start" || each === "post");
  if (remark !== undefined) add(engine, remark, "named", node, args);
  for (const target of thingsOf(targets)) {
    if (target.kind === "builtin" && TIMERS.has(target.path)) {
      add(engine, target.path === "setInterval" ? "start" : "post", "timer", node, args);
    }
    if (target.kind !== "library") continue;
    const { library, path } = target;
    const { knowledge } = engine.options;
    if (knowledge.says("start", library, path)) {
      add(engine, "start", doorOf(knowledge.isExpress(library), path, node), node, args);
    } else if (knowledge.says("post", library, path) || knowledge.says("pure", library, path)) {
      add(engine, "post", "callback", node, args);
    }
  }
}

export function noteMethod(
  engine: Engine,
  node: CallExpression,
  object: ValueSet,
  key: string | null,
  args: readonly ValueSet[],
): void {
  if (key === null) return;
  let found: Set<Thing> | null = null;
  for (const each of thingsOf(object)) {
    if (each.kind === "library" || each.kind === "builtin")
      found = joined(found, memberOfThing(engine, each, key, node));
  }
  note(engine, node, found ?? NONE, args);
  if (engine.ruptures.has(node)) return;
  if (PROMISING.has(key)) add(engine, "post", "then", node, args);
  if (EMITTING.has(key) && args.length > 1) add(engine, "start", "emitter", node, args);
}

function doorOf(isExpress: boolean, path: string, node: CallExpression): CallerKind {
  if (isExpress) return "express";
  const [event] = node.arguments;
  const isRequest = event?.type === "Literal" && event.value === "request";
  return path.endsWith(".on") && !isRequest ? "emitter" : "http";
}

function add(
  engine: Engine,
  kind: RuptureKind,
  door: CallerKind,
  node: CallExpression,
  args: readonly ValueSet[],
): void {
  const listeners = new Set<FunctionNode>();
  for (const value of args) {
    for (const thing of [...value, ...contentsOf(engine, value)]) {
      if (thing.kind === "function") listeners.add(thing.node);
    }
  }
  const known = engine.ruptures.get(node);
  if (known !== undefined) {
    for (const each of listeners) known.listeners.add(each);
  } else if (listeners.size > 0) {
    engine.ruptures.set(node, {
      kind,
      door,
      node,
      callee: written(node.callee),
      within: engine.current.body,
      listeners,
    });
  }
}
