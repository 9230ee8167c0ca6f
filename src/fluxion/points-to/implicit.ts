import { around, type FunctionNode, isFunction, keyOf, type Node, type Variable } from "../source/index.js";
import type { BodyFacts } from "./body-facts.js";
import { chainOf, fieldsOf, methodOf } from "./classes.js";
import type { Engine } from "./engine.js";
import { contentsOf, memberOf } from "./members.js";
import {
  type AllocationSite,
  alone,
  type ClassThing,
  type Holder,
  NONE,
  reachable,
  type Thing,
  thingsOf,
  type ValueSet,
} from "./things.js";

/** What the language calls when an object is turned into something else, waited for or gone through. */
const CALLED = new Set("toString toLocaleString valueOf toJSON then inspect next return throw".split(" "));
/** Those of them that are given nothing, or a text. */
const ALONE = new Set(
  "toString toLocaleString valueOf toJSON next return @@toPrimitive @@iterator".split(" "),
);

/** What methods of the language call of an object whose class extends theirs. */
const EXTENDED: Readonly<Record<string, readonly string[]>> = {
  Array: ["join", "constructor"],
  Date: ["toISOString"],
  Promise: ["constructor"],
  RegExp: ["exec", "flags", "constructor"],
};

/** A function that runs without being called in the text. */
interface Implicit {
  readonly node: FunctionNode;
  readonly isGiven: boolean;
}

/**
 * `${point}`, `[point].join()`, `JSON.stringify`, `for … of`, `await`: there are too many ways to make the language call
 * a member of an object. So code that has an object with such members counts as calling all of them.
 */
export function callImplicit(engine: Engine): void {
  const all = new Map<Holder, Implicit[]>();
  for (const thing of engine.holders()) {
    const found = implicitIn(engine, thing);
    if (found.length > 0) all.set(thing, found);
  }
  if (all.size === 0) return;
  for (const [thing, found] of all) {
    const facts = thing.kind === "namespace" ? undefined : engine.bodies.get(bodyAround(thing.node));
    if (facts !== undefined && thing.kind !== "namespace") callEach(engine, facts, thing.node, thing, found);
  }
  const held = new Map<Variable, Map<string | null, Holder[]>>();
  for (const facts of [...engine.bodies.values()]) {
    for (const [node, variable] of facts.uses) {
      for (const thing of heldBy(engine, all, held, facts, node, variable))
        callEach(engine, facts, node, thing, all.get(thing) ?? []);
    }
  }
}

function callEach(
  engine: Engine,
  { body }: BodyFacts,
  node: Node,
  thing: Holder,
  all: readonly Implicit[],
): void {
  engine.at(body, () => {
    const given = alone(engine.data("unknown"));
    for (const { node: target, isGiven } of all) {
      const args = isGiven ? target.params.map(() => given) : [];
      engine.call(target, node, args, alone(thing));
    }
  });
}

/** The objects with such members that a use of a variable may lead to; of what a file exports, only what is named. */
function heldBy(
  engine: Engine,
  all: ReadonlyMap<Holder, unknown>,
  known: Map<Variable, Map<string | null, Holder[]>>,
  { body }: BodyFacts,
  node: Node,
  variable: Variable,
): readonly Holder[] {
  const value = engine.of(variable);
  if (value.size === 0) return [];
  const outer = around(node);
  const isFile = thingsOf(value).every(({ kind }) => kind === "namespace");
  const key =
    isFile && outer?.type === "MemberExpression" && outer.object === node
      ? keyOf(outer, outer.property)
      : null;
  const ofVariable = known.get(variable) ?? new Map<string | null, Holder[]>();
  known.set(variable, ofVariable);
  const before = ofVariable.get(key);
  if (before !== undefined) return before;
  const meant = key === null ? value : engine.at(body, () => memberOf(engine, value, key, node));
  const found = [...reachable(meant)].filter((thing) => all.has(thing as Holder)) as Holder[];
  ofVariable.set(key, found);
  return found;
}

function isCalled(key: string | null): boolean {
  return key === null || key.startsWith("@@") || key === "*" || CALLED.has(key);
}

function implicitIn(engine: Engine, thing: Holder): Implicit[] {
  if (thing.kind === "namespace") return [];
  const found: Implicit[] = [];
  for (const [key, value] of thing.fields) {
    if (isCalled(key)) found.push(...functionsIn(value, !ALONE.has(key) && key !== "*"));
  }
  if (thing.kind === "site") {
    if (thing.madeBy !== null) membersOf(engine, thing.madeBy, found);
    const { node } = thing;
    if (node.type === "ObjectExpression" || thing.madeBy !== null)
      found.push(...functionsIn(thing.rest, false));
    if (node.type === "ObjectExpression") {
      for (const property of node.properties) {
        const isAccessor = property.type === "Property" && property.kind !== "init";
        if (isAccessor && isFunction(property.value)) found.push({ node: property.value, isGiven: true });
      }
    }
  }
  if (thing.kind === "class") {
    for (const member of thing.node.body.body) {
      if (member.type !== "MethodDefinition" || !member.static) continue;
      if (isCalled(keyOf(member, member.key))) found.push({ node: member.value, isGiven: true });
    }
  }
  return found;
}

function functionsIn(value: ValueSet, isGiven: boolean): Implicit[] {
  return thingsOf(value).flatMap((each) => (each.kind === "function" ? [{ node: each.node, isGiven }] : []));
}

/** What instances have of their class. Classes of the language call some methods of their subclasses. */
function membersOf(engine: Engine, of: ClassThing, found: Implicit[]): void {
  const chain = chainOf(engine, of);
  const names = [...chain].flatMap(({ node: { superClass } }) =>
    superClass?.type === "Identifier" ? (EXTENDED[superClass.name] ?? []) : [],
  );
  for (const { node } of chain) {
    for (const member of node.body.body) {
      if (member.type !== "MethodDefinition" || member.static) continue;
      const key = keyOf(member, member.key);
      if (!isCalled(key) && !names.includes(key ?? "")) continue;
      found.push({ node: member.value, isGiven: !ALONE.has(key ?? "") });
    }
  }
}

/** All methods that an instance has: for code that is given it and may call any. */
export function methodsOf(engine: Engine, of: ClassThing): FunctionNode[] {
  return [...chainOf(engine, of)].flatMap(({ node }) =>
    node.body.body.flatMap((member) =>
      member.type === "MethodDefinition" && !member.static && member.kind !== "constructor"
        ? [member.value]
        : [],
    ),
  );
}

/** What going through an object with an iterator of its own gives; null if it has none. */
export function yieldedBy(engine: Engine, thing: AllocationSite, node: Node): ValueSet | null {
  const iterators = [
    ...membersNamed(engine, thing, "@@iterator", node),
    ...membersNamed(engine, thing, "@@asyncIterator", node),
  ];
  const others = iterators.length === 0 ? unnamed(engine, thing) : [];
  if (iterators.length + others.length === 0) return null;
  const found = new Set<Thing>(others.length === 0 ? NONE : contentsOf(engine, alone(thing)));
  for (const each of [...iterators, ...others]) {
    const given = each.kind === "function" ? engine.returned(each.node) : alone(engine.data("unknown"));
    if (each.kind === "function" && each.node.generator) given.forEach(found.add, found);
    else for (const iterator of thingsOf(given)) stepsOf(engine, iterator, node).forEach(found.add, found);
  }
  return found;
}

/** Functions behind keys that the text does not tell: one may be an iterator. */
function unnamed(engine: Engine, thing: AllocationSite): Thing[] {
  if (thing.madeBy === null && thing.node.type !== "ObjectExpression") return [];
  const own = thingsOf(engine.inside(thing).rest).filter(({ kind }) => kind === "function");
  const classes = thing.madeBy === null ? [] : [...chainOf(engine, thing.madeBy)];
  const members = classes.flatMap(({ node }) =>
    node.body.body.flatMap((member) =>
      member.type === "MethodDefinition" && !member.static && keyOf(member, member.key) === null
        ? [engine.function(member.value)]
        : [],
    ),
  );
  return [...own, ...members];
}

/** What an iterator gives, one after the other: what is in the results of its `next`, or in itself. */
function stepsOf(engine: Engine, iterator: Thing, node: Node): ValueSet {
  const steps = iterator.kind === "site" ? membersNamed(engine, iterator, "next", node) : [];
  if (steps.length === 0) return contentsOf(engine, alone(iterator));
  const found = new Set<Thing>();
  for (const step of steps) {
    const given = step.kind === "function" ? engine.returned(step.node) : alone(engine.data("unknown"));
    given.forEach(found.add, found);
    contentsOf(engine, given).forEach(found.add, found);
  }
  return found;
}

function membersNamed(engine: Engine, thing: AllocationSite, key: string, node: Node): Thing[] {
  const ofClass = thing.madeBy && methodOf(engine, thing.madeBy, key, node, alone(thing));
  const own = engine.hasField(thing, key) ? (engine.inside(thing).fields.get(key) ?? NONE) : NONE;
  return [...(ofClass ?? NONE), ...own];
}

/** The body in which something is made. */
function bodyAround(node: Node): BodyFacts["body"] {
  let inner = node;
  for (; inner.parent; inner = inner.parent) {
    const outer = inner.parent;
    if (isFunction(outer)) return outer;
    if (outer.type !== "PropertyDefinition" || outer.static || outer.value !== inner) continue;
    const owner = outer.parent?.parent;
    if (owner?.type === "ClassDeclaration" || owner?.type === "ClassExpression") return fieldsOf(owner);
  }
  return inner as BodyFacts["body"];
}
