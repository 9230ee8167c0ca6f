import type { WatchedPackage } from "../../pipeline.js";
import {
  alone,
  type Body,
  type BodyFacts,
  callWith,
  copyable,
  type Engine,
  evaluate,
  type Hazard,
  isOfFile,
  NONE,
  reachable,
  type Thing,
  type ValueSet,
} from "../../points-to/index.js";
import {
  around,
  type CallExpression,
  enclosingFunction,
  type FunctionNode,
  isFunction,
  isInside,
  keyOf,
  type Node,
  plain,
  type SourceModule,
  walk,
  written,
} from "../../source/index.js";
import {
  atomicFacts,
  begunBefore,
  calledAloneFacts,
  chainFacts,
  continuedAlone,
  followFacts,
  givenBack,
  guardFacts,
  hasContinuation,
  isPosted,
  leftAloneFacts,
  lookedAtFacts,
  passingFacts,
  postedFacts,
  unawaitedFacts,
  zoneFacts,
} from "../hazards/index.js";
import { Slicer } from "../slice/index.js";
import {
  type Container,
  engineFor,
  heeded,
  heededFacts,
  reached,
  type WholeProgram,
} from "../whole/index.js";
import { targetOf } from "./method.js";
import { fileInputs, resultOf, shownInput, weightOf } from "./part.js";
import { idOf, type StageDecision } from "./plan.js";

/** Whether a call looks like one that a stage could be made of. */
export function looksMovable(whole: WholeProgram, node: Body, call: CallExpression): boolean {
  if (!isFunction(node) && !isAwait(call)) return false;
  const module = whole.engine.moduleOf(node);
  if (module.remarks(call).includes("stay")) return false;
  if (around(call)?.type === "ExpressionStatement" && !hasContinuation(whole.engine, call)) return false;
  let root = plain(call.callee);
  while (root.type === "MemberExpression" && keyOf(root, root.property) !== null) root = plain(root.object);
  const variable = root.type === "Identifier" ? module.variable(root) : null;
  if (variable && isOfFile(variable)) return true;
  return (variable || root.type === "ThisExpression") && targetOf(whole, node, call) !== null;
}

/** Whether one that looks like that is one, whatever speaks against it. */
export function candidate(whole: WholeProgram, { node, engine }: Container, call: CallExpression): boolean {
  const posts = isPosted(whole, engine, node, call);
  if (isOfObject(engine.moduleOf(call), call)) return targetOf(whole, node, call) !== null;
  if (!posts && around(call)?.type === "ExpressionStatement") return false;
  if (isTrivialLibrary(whole, engine, call)) return false;
  if (posts) return true;
  const targets = engine.bodies.get(node)?.calls.get(call);
  return targets === undefined || targets.size > 0;
}

/** A method of something that is in no variable of the file. */
function isOfObject(module: SourceModule, call: CallExpression): boolean {
  let root = plain(call.callee);
  while (root.type === "MemberExpression") root = plain(root.object);
  const variable = root.type === "Identifier" ? module.variable(root) : null;
  return variable ? !isOfFile(variable) : root.type === "ThisExpression";
}

function isTrivialLibrary(whole: WholeProgram, engine: Engine, call: CallExpression): boolean {
  const callee = engine.at(enclosingFunction(call) ?? engine.moduleOf(call).syntax, () =>
    evaluate(engine, call.callee),
  );
  return [...callee].some(
    (thing) =>
      thing.kind === "receiver" ||
      thing.kind === "builtin" ||
      thing.kind === "data" ||
      (thing.kind === "library" &&
        !whole.knowledge.watches(thing.library) &&
        !whole.knowledge.says("heavy", thing.library, thing.path)),
  );
}

/** Can one call run elsewhere? */
export function decideCall(whole: WholeProgram, container: Container, call: CallExpression): StageDecision {
  const { node, engine: around } = container;
  const module = around.moduleOf(node);
  const posts = isPosted(whole, around, node, call);
  const target = isOfObject(module, call) ? targetOf(whole, node, call) : null;
  const sent = posts ? call.arguments.slice(0, -1) : call.arguments;
  const given = around.at(node, () => sent.map((each) => evaluate(around, each)));
  let result: ValueSet = NONE;
  const body = bodyAround(call);
  const engine = engineFor(whole, call, {
    body,
    look: (its) => {
      const input = alone(its.data("input", call));
      const own = alone(its.data("given", call));
      const args = given.map((value, i): ValueSet => {
        if (value.size === 0) return value;
        return isHandedOver(around, sent[i], value) ? own : input;
      });
      result = target === null ? callWith(its, call, args) : its.call(target.node, call, args, NONE);
    },
  });
  const bodyOfCall = engine.enter(body);
  engine.run();
  const bodies = reached(engine, body);
  const own = bodies.filter((each) => each.body !== body);
  const waits = own.some((each) => each.waits);
  const goesOn = waits || own.some(({ body: each }) => each.type !== "Program" && each.async);
  const isAsync = [...(bodyOfCall.calls.get(call) ?? [])].some((target) => target.async);
  const slicer = new Slicer(whole, engine, waits, call);
  slicer.bodies(bodies);
  slicer.of(target?.module ?? module);
  slicer.elsewhere(module, call);
  const check = () => engine.at(body, () => copyable(engine, result, call, "its caller"));
  const facts: Hazard[] = [
    ...lookedAtFacts(whole, node),
    ...messageFacts(around, node, call, given),
    ...heededFacts(whole, [...bodies.flatMap((each) => [...each.facts.values()]), ...slicer.facts]),
    ...receiverFacts(own),
    ...heeded(whole, "same objects", () => givenBack(engine, own)),
    ...zoneFacts(whole, bodies),
    ...heeded(whole, "promises awaited", () => unawaitedFacts(engine, own)),
    ...(waits ? lateFacts(around, node, call) : []),
    ...(goesOn && !posts && !isAsync && !isAwait(call) ? promiseFacts(module, call) : []),
    ...heeded(whole, "results", () => resultOf(engine, module, call, check, result, bodies)),
  ];
  const weight = weightOf(bodies, module.remarks(call).includes("heavy"));
  const isAwaited = !posts && (isAsync || isAwait(call));
  if (weight === "trivial" && (facts.length > 0 || !isAwaited)) return { goes: false, facts: [] };
  if (facts.length > 0) return { goes: false, facts };
  const late = isAwaited && takesEvents(whole, around, node, call);
  const ruptures = container.listener?.ruptures ?? [];
  const following = posts
    ? postedFacts(whole, container, call)
    : [
        ...(isAwaited ? [] : heeded(whole, "after a cut", () => followFacts(whole, container, call))),
        ...(late
          ? []
          : heeded(whole, "uses around an await", () => atomicFacts(whole, node, call, !isAwaited))),
        ...(late ? [] : heeded(whole, "uses around a continuation", () => chainFacts(whole, ruptures))),
      ];
  const isAlone = container.listener === null;
  const before = [
    ...heeded(whole, "promises left alone", () => [
      ...leftAloneFacts(whole, ruptures),
      ...continuedAlone(whole, call),
    ]),
    ...heeded(whole, "functions called alone", () => (isAlone ? calledAloneFacts(whole, node) : [])),
    ...heeded(whole, "uses around next", () => (late ? [] : passingFacts(whole, node))),
    ...heeded(whole, "begun by a middleware", () => guardFacts(whole)),
    ...heeded(whole, "begun before", () => (late ? [] : begunBefore(whole, node, call))),
  ];
  if (following.length + before.length > 0) return { goes: false, facts: [...following, ...before] };
  const place = module.place(call);
  const name = written(call.callee);
  const inputs = fileInputs(slicer, module);
  return {
    goes: true,
    plan: {
      kind: "call",
      node: call,
      container: node,
      module,
      door: container.listener?.ruptures[0]?.door ?? null,
      awaits: !isAwaited && !posts,
      posts,
      target,
      inputs,
      slices: slicer.slices,
      stage: {
        id: idOf(whole.program.entry, module, name, place),
        kind: posts ? "posted" : isAwaited ? "awaited" : "cut",
        name,
        place,
        inputs: [
          ...sent.map(({ start, end }) => module.text.slice(start, end)),
          ...inputs.flatMap(shownInput),
        ],
        receivers: [],
        weight,
        ...watchedIn(
          whole,
          call,
          sent.map((each, i) => isHandedOver(around, each, given[i] ?? NONE)),
          inputs.length,
        ),
        worker: "",
      },
    },
  };
}

/** Which package is watched, if any, and which inputs no other code holds. */
function watchedIn(
  { knowledge }: WholeProgram,
  call: CallExpression,
  handedOver: readonly boolean[],
  before: number,
): { readonly watched?: WatchedPackage } {
  if (knowledge.watched === null) return {};
  const isList = call.arguments.every(({ type }) => type !== "SpreadElement");
  const own = isList ? handedOver.flatMap((is, i) => (is ? [before + i] : [])) : [];
  return { watched: { package: knowledge.watched, own } };
}

/** A library that goes on later by itself, so that others came in between before. */
function takesEvents(whole: WholeProgram, engine: Engine, node: Body, call: CallExpression): boolean {
  const targets = [...engine.at(node, () => evaluate(engine, call.callee))];
  return targets.every(
    (thing) =>
      thing.kind === "library" &&
      (whole.knowledge.says("later", thing.library, thing.path) ||
        whole.knowledge.says("post", thing.library, thing.path)),
  );
}

/** As if the call stood in a function of its own. */
function bodyAround(call: CallExpression): FunctionNode {
  return {
    type: "ArrowFunctionExpression",
    start: call.start,
    end: call.end,
    expression: true,
    async: false,
    params: [],
    body: call,
    id: null,
    generator: false,
    ...(call.parent ? { parent: call.parent } : {}),
  };
}

function isAwait(call: CallExpression): boolean {
  const outer = around(call);
  return outer?.type === "AwaitExpression" && plain(outer.argument) === call;
}

/** What a function that waits was given may be changed meanwhile, and it would see that. */
function lateFacts(engine: Engine, node: Body, call: CallExpression): Hazard[] {
  const module = engine.moduleOf(call);
  return call.arguments.flatMap((argument): Hazard[] => {
    const things = engine.at(node, () => evaluate(engine, argument));
    const isOwn = [...things].every((thing) => isMadeIn(engine, argument, thing));
    if (isOwn) return [];
    return [
      {
        code: "HW-7005",
        node: argument,
        module,
        reason: `it waits, and ${written(argument)} may be changed meanwhile`,
        advice: "pass a text, a number, or a copy that is made here",
      },
    ];
  });
}

/** What a function gives that calls an asynchronous one may be its promise, which an `await` that is put in would take away. */
function promiseFacts(module: SourceModule, call: CallExpression): Hazard[] {
  const reason = `${written(call.callee)} goes on later, and may give a promise, but is not asynchronous itself`;
  return [{ code: "HW-7010", node: call, module, reason, advice: "make it `async`, or `await` it here" }];
}

/** `render({ title: text(x) })`: what is made right there, and is not shared, with all that is in it. */
function isHandedOver(engine: Engine, argument: Node | undefined, value: ValueSet): boolean {
  const type = argument === undefined ? null : plain(argument).type;
  if (argument === undefined || (type !== "ObjectExpression" && type !== "ArrayExpression")) return false;
  let isKept = false;
  walk(argument, (each) => {
    isKept ||= each.type === "AssignmentExpression";
    return !isKept;
  });
  return !isKept && [...reachable(value)].every((each) => isMadeIn(engine, argument, each));
}

function isMadeIn(engine: Engine, argument: Node, thing: Thing): boolean {
  if (thing.kind !== "site" || engine.moduleOf(thing.node) !== engine.moduleOf(argument)) return false;
  return isInside(thing.node, argument);
}

/** Arguments go in a message. */
function messageFacts(
  engine: Engine,
  node: Body,
  call: CallExpression,
  given: readonly ValueSet[],
): Hazard[] {
  const own = engine.enter(node);
  const before = new Set(own.facts.keys());
  engine.at(node, () => {
    for (const value of given) {
      copyable(engine, value, call, written(call.callee));
      if ([...engine.reachable(value)].some(isMemory)) {
        const reason = "it is given memory, and what it writes there through a view would not be seen";
        engine.fact("HW-7005", call, reason, "give it an array of numbers");
      }
    }
  });
  const added = [...own.facts].filter(([key]) => !before.has(key));
  for (const [key] of added) own.takeBack(key);
  return added.map(([, fact]) => fact);
}

function isMemory(thing: Thing): boolean {
  if (thing.kind !== "site" || thing.node.type !== "NewExpression") return false;
  return thing.node.callee.type === "Identifier" && thing.node.callee.name === "ArrayBuffer";
}

function receiverFacts(bodies: readonly BodyFacts[]): Hazard[] {
  return bodies.flatMap(({ module, effects }) =>
    effects.slice(0, 1).map(({ node }) => ({
      code: "HW-7008" as const,
      node,
      module,
      reason: "it writes to the console or answers, and so belongs to the main loop",
      advice: "do that in the function that calls it",
    })),
  );
}
