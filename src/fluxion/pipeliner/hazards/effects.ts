import {
  REQUEST_CONTAINERS,
  REQUEST_VALUES,
  RESPONSE_AT_ONCE,
  RESPONSE_CHANGING,
} from "../../callees/index.js";
import {
  type BodyFacts,
  type Engine,
  evaluate,
  type Hazard,
  type ReceiverThing,
  reachable,
  type Thing,
} from "../../points-to/index.js";
import { isFunction, isInside, type Node, type SourceModule } from "../../source/index.js";
import { reached } from "../whole/index.js";

const LOOPS = new Set([
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
]);

/** Effects are done again on the main loop when the stage has ended. What would tell the difference stays. */
export function effectsOutOfPlace(engine: Engine, bodies: readonly BodyFacts[]): Hazard[] {
  return [...inTry(engine, bodies), ...readAfter(bodies), ...readLate(bodies), ...handedOver(engine, bodies)];
}

/** An effect may throw, but not here: it would not be caught. */
function inTry(engine: Engine, bodies: readonly BodyFacts[]): Hazard[] {
  const facts: Hazard[] = [];
  for (const { module, effects, calls } of bodies) {
    for (const { node, receiver } of effects) {
      if (receiver.receiver !== "console" && isTried(node)) facts.push(tried(module, node));
    }
    for (const [node, targets] of calls) {
      if (!isTried(node)) continue;
      const acts = [...targets].some((target) =>
        reached(engine, target).some((each) =>
          each.effects.some(({ receiver }) => receiver.receiver !== "console"),
        ),
      );
      if (acts) facts.push(tried(module, node));
    }
  }
  return facts;
}

function tried(module: SourceModule, node: Node): Hazard {
  return {
    code: "HW-7008",
    node,
    module,
    reason: "it answers inside of a `try`, which would not see an error of the answer itself",
    advice: "answer after the `try`, or put only the heavy call into it",
  };
}

function isTried(node: Node): boolean {
  for (let inner = node; inner.parent && !isFunction(inner); inner = inner.parent) {
    const outer = inner.parent;
    if (outer.type === "TryStatement" && (outer.block === inner || outer.finalizer !== null)) return true;
  }
  return false;
}

/** What is read of a response, or of a request that was passed on, must be what it was at the start. */
function readAfter(bodies: readonly BodyFacts[]): Hazard[] {
  const facts: Hazard[] = [];
  if (bodies.every(({ reads }) => reads.length === 0)) return [];
  const effects = bodies.flatMap((body) => body.effects.map((effect) => ({ effect, body })));
  for (const of of bodies) {
    for (const { receiver, node, path } of of.reads) {
      const before = effects.find(({ effect, body }) => {
        const changes =
          receiver.receiver === "response" ? effect.receiver === receiver : isNext(effect.receiver);
        return changes && (body !== of || isBefore(effect.node, node));
      });
      if (before === undefined) continue;
      facts.push({
        code: "HW-7008",
        node,
        module: of.module,
        reason: `it reads ${receiver.variable?.name ?? receiver.receiver}.${path.join(".")} after it has answered or gone on`,
        advice: "read it into a constant at the beginning",
      });
    }
  }
  return facts;
}

function isNext({ receiver }: ReceiverThing): boolean {
  return receiver === "next";
}

function isBefore(effect: Node, read: Node): boolean {
  if (isInside(read, effect)) return false; // an argument of it
  if (effect.start < read.start) return true;
  for (let outer = effect.parent; outer && !isFunction(outer); outer = outer.parent) {
    if (LOOPS.has(outer.type) && isInside(read, outer)) return true;
  }
  return false;
}

/** While a stage waits, others may give a request new fields; what Express and Node put there stays. */
function readLate(bodies: readonly BodyFacts[]): Hazard[] {
  if (!bodies.some(({ waits }) => waits)) return [];
  return bodies.flatMap(({ module, reads }) =>
    reads.flatMap(({ receiver, node, path, question }): Hazard[] => {
      const [key = ""] = path;
      const lasts = question || REQUEST_CONTAINERS.has(key) || REQUEST_VALUES.has(key);
      if (receiver.receiver !== "request" || lasts) return [];
      return [
        {
          code: "HW-7008",
          node,
          module,
          reason: `it waits, and req.${key} may change meanwhile`,
          advice: "read it before, and pass it to the heavy function as an argument",
        },
      ];
    }),
  );
}

/** A place in the code of a stage. */
interface Spot {
  readonly of: BodyFacts;
  readonly node: Node;
}

/** A response keeps what it is given until it is sent, and may write into it; a copy is given to it instead. */
function handedOver(engine: Engine, bodies: readonly BodyFacts[]): Hazard[] {
  return bodies.flatMap((of) =>
    of.effects.flatMap(({ receiver, node, method }): Hazard[] => {
      if (receiver.receiver !== "response" || node.type !== "CallExpression") return [];
      if (RESPONSE_AT_ONCE.has(method)) return [];
      const given = engine.at(of.body, () => node.arguments.map((each) => evaluate(engine, each)));
      const things = new Set(given.flatMap((value) => [...reachable(value)]));
      if (things.size === 0) return [];
      const isGiven = (each: Thing) => things.has(each);
      const later = (spot: Spot) => comesAfter(engine, { of, node }, spot);
      const changed = changesIn(bodies).find((each) => [...each.things].some(isGiven) && later(each));
      const read = RESPONSE_CHANGING.has(method)
        ? usesIn(engine, bodies).find((each) => [...each.things].some(isGiven) && later(each))
        : undefined;
      const found = changed ?? read;
      if (found === undefined) return [];
      const reason =
        found === changed
          ? `it changes what it has given to res.${method}(), which would send a copy of it as it was`
          : `it uses what it has given to res.${method}(), which writes into it`;
      const advice = "give it a copy: `{ ...x }`, `Buffer.from(x)`";
      return [{ code: "HW-7005", node: found.node, module: found.of.module, reason, advice }];
    }),
  );
}

function changesIn(bodies: readonly BodyFacts[]): (Spot & { readonly things: Iterable<Thing> })[] {
  return bodies.flatMap((of) =>
    [...of.changes, ...of.builds].map(([node, things]) => ({ of, node, things })),
  );
}

function usesIn(
  engine: Engine,
  bodies: readonly BodyFacts[],
): (Spot & { readonly things: Iterable<Thing> })[] {
  return bodies.flatMap((of) =>
    of.module.inside(of.body).names.flatMap((node) => {
      const variable = of.module.variable(node);
      return variable ? [{ of, node, things: reachable(engine.of(variable)) }] : [];
    }),
  );
}

/** May one place be run after another? If neither function calls the other, nothing is known of their order. */
function comesAfter(engine: Engine, first: Spot, second: Spot): boolean {
  if (first.of === second.of) return isBefore(first.node, second.node);
  const [down, up] = [callsTo(engine, first.of, second.of), callsTo(engine, second.of, first.of)];
  if (down.length + up.length === 0) return true;
  return (
    down.some((call) => isBefore(first.node, call)) ||
    up.some((call) => call !== second.node && isBefore(call, second.node))
  );
}

function callsTo(engine: Engine, from: BodyFacts, to: BodyFacts): Node[] {
  return [...from.calls]
    .filter(([, targets]) => [...targets].some((each) => reached(engine, each).includes(to)))
    .map(([node]) => node);
}
