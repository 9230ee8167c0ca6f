import type { Receiver, StageWeight } from "../../pipeline.js";
import {
  alone,
  type Body,
  type BodyFacts,
  bind,
  copyable,
  type Engine,
  type Hazard,
  isReassigned,
  reachable,
} from "../../points-to/index.js";
import {
  type FunctionNode,
  isFunction,
  type Node,
  type SourceModule,
  type Variable,
  walk,
} from "../../source/index.js";
import {
  begunAround,
  chainFacts,
  effectsOutOfPlace,
  givenBack,
  guardFacts,
  isOfMainLoop,
  leftAloneFacts,
  lookedAfter,
  lookedAtFacts,
  notTheSame,
  oddFacts,
  overtaking,
  passingFacts,
  renderFacts,
  unawaitedFacts,
  zoneFacts,
} from "../hazards/index.js";
import { Slicer } from "../slice/index.js";
import {
  engineFor,
  heeded,
  heededFacts,
  type Listener,
  reached,
  roleOf,
  type WholeProgram,
} from "../whole/index.js";
import { idOf, type PartPlan, type Reads, type StageDecision, type StageInput } from "./plan.js";

const ORDERED: Readonly<Record<string, string>> = {
  emitter: "events of one source must be handled in their order",
  timer: "timers go off in their order",
  named: "nothing is known of the order in which it is called",
};

/** Can a whole listener or continuation run elsewhere? What was looked at is kept for `containerOf`, if that fits. */
export function decidePart(
  whole: WholeProgram,
  listener: Listener,
  name: string,
  looked: Map<Body, Engine>,
): StageDecision {
  const { node } = listener;
  const module = whole.engine.moduleOf(node);
  const early = [...textFacts(module, listener), ...lookedAtFacts(whole, node)];
  if (early.length > 0) return { goes: false, facts: early };
  const engine = engineFor(whole, node);
  engine.at(node, () => {
    for (const parameter of node.params) {
      const variable = parameter.type === "Identifier" ? module.variable(parameter) : null;
      if (variable && whole.roles.has(variable)) continue;
      const owner = isHeldByOthers(whole, listener, parameter) ? "input" : "given";
      bind(engine, parameter, alone(roleOf(whole, engine, parameter) ?? engine.data(owner, parameter)));
    }
  });
  engine.run();
  if (takesReceivers(whole, module, node)) looked.set(node, engine);
  const bodies = reached(engine, node);
  const waits = bodies.some((each) => each.waits);
  const slicer = new Slicer(whole, engine, waits, node);
  slicer.bodies(bodies);
  slicer.elsewhere(module, node);
  const isOfExpress = listener.ruptures.some(({ door }) => door === "express");
  const isOfPromise = listener.ruptures.some(({ door }) => door === "then");
  const facts = [
    ...heededFacts(whole, [...bodies.flatMap((each) => [...each.facts.values()]), ...slicer.facts]),
    ...heeded(whole, "effects in order", () => effectsOutOfPlace(engine, bodies)),
    ...heeded(whole, "same objects", () => givenBack(engine, bodies)),
    ...heeded(whole, "requests as they come", () => oddFacts(whole, bodies)),
    ...zoneFacts(whole, bodies),
    ...heeded(whole, "state", () => renderFacts(whole, bodies)),
    ...heeded(whole, "promises awaited", () => unawaitedFacts(engine, bodies)),
    ...heeded(whole, "promises left alone", () => leftAloneFacts(whole, listener.ruptures)),
    ...(waits ? sharedCaptures(whole, bodies) : []),
    ...heeded(whole, "parts of one request", () => overtaking(whole, node, touched(whole, bodies))),
    ...heeded(whole, "uses around a continuation", () => chainFacts(whole, listener.ruptures)),
    ...heeded(whole, "uses around next", () => (isOfExpress ? passingFacts(whole, node) : [])),
    ...heeded(whole, "begun by a middleware", () => guardFacts(whole)),
    ...heeded(whole, "begun before", () => begunAround(whole, node)),
    ...heeded(whole, "after next", () => (isOfExpress ? lookedAfter(whole) : [])),
    ...heeded(whole, "results", () => (isOfPromise ? resultFacts(engine, module, listener) : [])),
  ];
  if (facts.length > 0) return { goes: false, facts };
  return { goes: true, plan: planOf(whole, listener, name, bodies, slicer) };
}

/** Errors that Express passes on, and what promises of the program resolve to, may be anybody's. */
function isHeldByOthers(whole: WholeProgram, { node, ruptures }: Listener, parameter: Node): boolean {
  if (ruptures.some(({ door }) => door === "express")) return true;
  if (!ruptures.some(({ door }) => door === "then")) return false;
  const module = whole.engine.moduleOf(node);
  let found = false;
  walk(parameter, (each) => {
    const variable = each.type === "Identifier" ? module.variable(each) : null;
    for (const thing of variable ? whole.engine.of(variable) : [])
      found ||= thing.kind !== "data" || (thing.owner !== "given" && thing.owner !== "fresh");
    return undefined;
  });
  return found;
}

/** It is given nothing but requests, responses and the like, so it makes no difference who holds what it is given. */
function takesReceivers({ roles }: WholeProgram, module: SourceModule, { params }: FunctionNode): boolean {
  if (params.length === 0) return false;
  return params.every((each) => {
    const variable = each.type === "Identifier" ? module.variable(each) : null;
    return variable ? roles.has(variable) : false;
  });
}

function textFacts(module: SourceModule, { node, ruptures, only }: Listener): Hazard[] {
  const fact = (code: Hazard["code"], reason: string, advice: string): Hazard => ({
    code,
    node,
    module,
    reason,
    advice,
  });
  const door = ruptures[0]?.door ?? "named";
  if (
    module.remarks(node).includes("stay") ||
    ruptures.some((each) => module.remarks(each.node).includes("stay"))
  ) {
    return [fact("HW-7013", "a comment says that it stays", "take the comment away")];
  }
  const order = ORDERED[door];
  if (order !== undefined || ruptures.some((each) => each.door !== door)) {
    return [
      fact("HW-7010", order ?? "it is called in several ways", "call a heavy function with `await` in it"),
    ];
  }
  if (!only) return [fact("HW-7010", "it is also called directly", "let it be called only as a listener")];
  if (node.generator) return [fact("HW-7007", "it is a generator", "use an ordinary function")];
  if (node.parent?.type === "Property" && node.parent.method) {
    return [fact("HW-7013", "it is a method of an object", "write `name: function () {…}` or an arrow")];
  }
  if (node.parent?.type === "MethodDefinition") {
    return [fact("HW-7013", "it is a method of a class", "use a function")];
  }
  const odd = node.params.some(({ type }, i) => {
    const isReceiver = (door === "express" || door === "http") && i < 4;
    if (type === "Identifier" || (type === "ObjectPattern" && i === 0)) return false;
    return isReceiver || type === "RestElement" || type === "TSParameterProperty";
  });
  const twice = node.params.find(
    (each) => each.type === "Identifier" && (module.variable(each)?.defs.length ?? 0) > 1,
  );
  if (twice !== undefined)
    return [fact("HW-7013", "it declares a parameter again with `var`", "use another name")];
  const secret = foreignPrivateName(node);
  if (secret !== null) {
    const reason = `it uses #${secret.name}, which only the class around it knows`;
    return [{ code: "HW-7007", node: secret, module, reason, advice: "use a name without #" }];
  }
  if (odd)
    return [
      fact("HW-7013", "its parameters are taken apart where they are declared", "name them: `(req, res)`"),
    ];
  return [];
}

/** A private name of a class around a function means nothing elsewhere. */
function foreignPrivateName(root: FunctionNode): (Node & { type: "PrivateIdentifier" }) | null {
  let outer: Node | null | undefined = root.parent;
  while (outer && outer.type !== "ClassBody") outer = outer.parent;
  let found: (Node & { type: "PrivateIdentifier" }) | null = null;
  if (!outer) return found;
  walk(root, (node) => {
    if (node.type === "PrivateIdentifier" && !isDeclaredInside(node, root)) found ??= node;
    return undefined;
  });
  return found;
}

function isDeclaredInside({ name, parent }: Node & { type: "PrivateIdentifier" }, root: Node): boolean {
  for (let outer: Node | null | undefined = parent; outer && outer !== root; outer = outer.parent) {
    if (outer.type !== "ClassBody") continue;
    const has = outer.body.some(
      (member) => "key" in member && member.key.type === "PrivateIdentifier" && member.key.name === name,
    );
    if (has) return true;
  }
  return false;
}

/** The receivers of the function around it that it does something to. */
function touched(whole: WholeProgram, bodies: readonly BodyFacts[]): Set<Variable> {
  return new Set([...capturesIn(bodies)].filter((variable) => whole.roles.has(variable)));
}

function sharedCaptures(whole: WholeProgram, bodies: readonly BodyFacts[]): Hazard[] {
  return bodies.flatMap(({ module, captures }) =>
    [...captures].flatMap(([node, variable]): Hazard[] =>
      isReassigned(variable) && !whole.roles.has(variable)
        ? [
            {
              code: "HW-7003",
              node,
              module,
              reason: `it waits, and ${variable.name} may be written meanwhile`,
              advice: `copy ${variable.name} into a constant before`,
            },
          ]
        : [],
    ),
  );
}

/** What a `.then` callback returns goes on to the next. */
export function resultFacts(engine: Engine, module: SourceModule, { node }: { node: Node }): Hazard[] {
  if (!isFunction(node)) return [];
  const value = engine.returned(node);
  return resultOf(
    engine,
    module,
    node,
    () => engine.at(node, () => copyable(engine, value, node, "its caller")),
    value,
    reached(engine, node),
  );
}

export function resultOf(
  engine: Engine,
  module: SourceModule,
  node: Node,
  check: () => void,
  value: ReturnType<Engine["returned"]>,
  bodies: readonly BodyFacts[],
): Hazard[] {
  const before = new Set([...engine.bodies.values()].flatMap(({ facts }) => [...facts.values()]));
  check();
  const added = [...engine.bodies.values()]
    .flatMap(({ facts }) => [...facts.values()])
    .filter((each) => !before.has(each));
  const given = [...reachable(value)].some(
    (thing) =>
      (thing.kind === "data" && (thing.owner === "input" || thing.owner === "loaded")) ||
      (thing.kind === "site" && thing.shared),
  );
  if (isOfMainLoop(engine, bodies, value)) added.push(notTheSame(module, node, "what it gives back"));
  if (!given) return added;
  return [
    ...added,
    {
      code: "HW-7005",
      node,
      module,
      reason:
        "what it gives back may be, or have in it, an object that it was given or that the file has: a copy would not be the same",
      advice: "give back a new object or a text",
    },
  ];
}

function planOf(
  whole: WholeProgram,
  { node, ruptures }: Listener,
  name: string,
  bodies: readonly BodyFacts[],
  slicer: Slicer,
): PartPlan {
  const module = whole.engine.moduleOf(node);
  const receivers = receiversOf(whole, module, node, bodies);
  const inputs = inputsOf(whole, module, node, bodies, slicer);
  const place = module.place(node);
  return {
    kind: "part",
    node,
    module,
    door: ruptures[0]?.door ?? "named",
    receivers,
    inputs,
    slices: slicer.slices,
    stage: {
      id: idOf(whole.program.entry, module, name, place),
      kind: "part",
      name,
      place,
      inputs: inputs.flatMap(shownInput),
      receivers: receivers.map(({ kind, name: called }) => ({ kind, name: called })),
      weight: weightOf(bodies, module.remarks(node).includes("heavy")),
      worker: "",
    },
  };
}

export function weightOf(bodies: readonly BodyFacts[], said: boolean): StageWeight {
  if (said || bodies.some(({ heavy }) => heavy)) return "heavy";
  return bodies.some(({ busy }) => busy) || isRecursive(bodies) ? "unknown" : "trivial";
}

function isRecursive(bodies: readonly BodyFacts[]): boolean {
  return bodies.some(({ body, calls }) =>
    [...calls.values()].some((targets) => isFunction(body) && targets.has(body)),
  );
}

export function shownInput(input: StageInput): string[] {
  if (input.kind !== "reads") return [input.name];
  return [
    ...input.reads.paths.map((path) => [input.receiver, ...path].join(".")),
    ...input.reads.questions.map(([method, ...args]) => `${input.receiver}.${method}(${args.join(", ")})`),
  ];
}

function receiversOf(
  whole: WholeProgram,
  module: SourceModule,
  node: PartPlan["node"],
  bodies: readonly BodyFacts[],
): (Receiver & { parameter: number | null })[] {
  const found: (Receiver & { parameter: number | null })[] = [];
  for (const [i, parameter] of node.params.entries()) {
    const variable = parameter.type === "Identifier" ? module.variable(parameter) : null;
    const kind = variable && whole.roles.get(variable);
    if (variable && kind) found.push({ kind, name: variable.name, parameter: i });
    const pattern = whole.patterns.get(parameter);
    if (pattern !== undefined) found.push({ kind: pattern, name: pattern, parameter: i });
  }
  for (const variable of capturesIn(bodies)) {
    const kind = whole.roles.get(variable);
    if (kind !== undefined) found.push({ kind, name: variable.name, parameter: null });
  }
  const console = bodies.some(({ effects }) =>
    effects.some(({ receiver }) => receiver.receiver === "console"),
  );
  if (console) found.push({ kind: "console", name: "console", parameter: null });
  return found;
}

function capturesIn(bodies: readonly BodyFacts[]): Set<Variable> {
  return new Set(bodies.flatMap(({ captures }) => [...captures.values()]));
}

function inputsOf(
  whole: WholeProgram,
  module: SourceModule,
  node: PartPlan["node"],
  bodies: readonly BodyFacts[],
  slicer: Slicer,
): StageInput[] {
  const values: StageInput[] = [];
  for (const [i, parameter] of node.params.entries()) {
    const variable = parameter.type === "Identifier" ? module.variable(parameter) : null;
    if (whole.patterns.has(parameter) || (variable && whole.roles.has(variable))) continue;
    values.push({ kind: "value", name: variable?.name ?? `__flx_${i}` });
  }
  for (const variable of capturesIn(bodies)) {
    if (!whole.roles.has(variable)) values.push({ kind: "value", name: variable.name });
  }
  return [...values, ...readsIn(bodies), ...fileInputs(slicer, module)];
}

/** Values of the file itself; those of other files are read there. */
export function fileInputs(slicer: Slicer, module: SourceModule): StageInput[] {
  const own = slicer.slices.get(module);
  return [...(own?.streamed ?? [])].map(({ name }) => ({ kind: "file", name }));
}

function readsIn(bodies: readonly BodyFacts[]): StageInput[] {
  const byReceiver = new Map<string, { paths: Map<string, string[]>; questions: Map<string, string[]> }>();
  for (const { receiver, path, question } of bodies.flatMap(({ reads }) => reads)) {
    const name = receiver.variable?.name ?? receiver.receiver;
    const found = byReceiver.get(name) ?? { paths: new Map(), questions: new Map() };
    byReceiver.set(name, found);
    (question ? found.questions : found.paths).set(path.join("\0"), [...path]);
  }
  return [...byReceiver].map(([receiver, { paths, questions }]) => {
    const all = [...paths.values()];
    const wholeOnes = new Set(all.filter(({ length }) => length === 1).map(([key]) => key));
    const reads: Reads = {
      paths: all.filter((path) => path.length === 1 || !wholeOnes.has(path[0] ?? "")),
      questions: [...questions.values()],
    };
    return { kind: "reads", receiver, reads };
  });
}
