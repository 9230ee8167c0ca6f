import type { FunctionNode, Node } from "../source/index.js";
import { chainOf, fieldsOf, hasFields } from "./classes.js";
import type { Engine } from "./engine.js";
import {
  type AllocationSite,
  alone,
  type Body,
  type ClassThing,
  type Thing,
  type ValueSet,
} from "./things.js";

/** Where something escaped to. */
export interface Escape {
  readonly node: Node;
  readonly body: Body;
}

/** Everything that code which is not looked at may hold: what escaped, and what can be reached from there. */
export function escapedFrom(engine: Engine): Map<Thing, Escape> {
  const found = new Map<Thing, Escape>();
  const waiting: Thing[] = [];
  for (const { body, escapes } of engine.bodies.values()) {
    for (const [node, things] of escapes) {
      waiting.push(...things);
      for (let thing = waiting.pop(); thing !== undefined; thing = waiting.pop()) {
        if (found.has(thing)) continue;
        found.set(thing, { node, body });
        for (const value of within(engine, thing)) for (const each of value) waiting.push(each);
      }
    }
  }
  return found;
}

/** What a holder of a thing gets by looking into it, or by calling it. */
function within(engine: Engine, thing: Thing): ValueSet[] {
  switch (thing.kind) {
    case "site":
      return [...thing.fields.values(), thing.rest, ...(thing.madeBy ? methodsOf(engine, thing.madeBy) : [])];
    case "namespace":
      return [...thing.fields.values(), thing.whole];
    case "function":
      return [...thing.fields.values(), engine.returned(thing.node)];
    case "class":
      return [...thing.fields.values(), ...methodsOf(engine, thing), alone(instanceOf(engine, thing))];
    default:
      return [];
  }
}

/** All that a class and those above it can do, for itself or for an instance. */
function methodsOf(engine: Engine, of: ClassThing): ValueSet[] {
  return [...chainOf(engine, of)].flatMap(({ node }) =>
    node.body.body.flatMap((member) =>
      member.type === "MethodDefinition" && member.kind !== "constructor"
        ? [alone(engine.function(member.value))]
        : [],
    ),
  );
}

/** What others may make of a class that they have. */
function instanceOf(engine: Engine, of: ClassThing): AllocationSite {
  return engine.at(engine.moduleOf(of.node).syntax, () => engine.site(of.node, of));
}

const OPENED = new WeakMap<Engine, Set<Node>>();

/** Functions and classes that escaped are called by others, with anything. Tells whether there are new ones. */
export function openEscaped(engine: Engine): boolean {
  const opened = OPENED.get(engine) ?? new Set<Node>();
  OPENED.set(engine, opened);
  const before = opened.size;
  const anything = alone(engine.data("unknown"));
  for (const thing of escapedFrom(engine).keys()) {
    if ((thing.kind !== "function" && thing.kind !== "class") || opened.has(thing.node)) continue;
    opened.add(thing.node);
    const self = thing.kind === "class" ? alone(instanceOf(engine, thing)) : anything;
    for (const target of thing.kind === "class" ? makersOf(engine, thing) : [thing.node]) {
      const args = target.params.map(() => anything);
      engine.at(target, () => engine.give(target, args, self));
    }
  }
  return opened.size > before;
}

/** What runs when an instance is made. */
function makersOf(engine: Engine, of: ClassThing): FunctionNode[] {
  return [...chainOf(engine, of)].flatMap(({ node }) => {
    const constructors = node.body.body.flatMap((member) =>
      member.type === "MethodDefinition" && member.kind === "constructor" ? [member.value] : [],
    );
    return hasFields(node) ? [fieldsOf(node), ...constructors] : constructors;
  });
}
