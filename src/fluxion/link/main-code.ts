import type { CallPlan, PartPlan, StageInput, StagePlan } from "../pipeliner/index.js";
import { type FunctionNode, isFunction, type Node, type SourceModule } from "../source/index.js";
import { Text } from "./text.js";

const PICK =
  "function __flx_pick(o, keys) { if (o === null || typeof o !== 'object') return o; const p = {}; for (const k of keys) p[k] = o[k]; return p; }";
const THROW = "function __flx_throw(e) { process.nextTick(() => { throw e; }); }";

export interface MainOptions {
  readonly runtime: string;
  /** Where the manifest is, as seen from this file, if it makes the stages known. */
  readonly manifest: string | null;
}

/** The program's own file, changed only where a stage goes. The original code stays callable in place. */
export function mainCode(
  module: SourceModule,
  plans: readonly StagePlan[],
  { runtime, manifest }: MainOptions,
): Text {
  const text = new Text(module.text, { filename: module.path });
  const helpers = new Set<string>();
  const made = new Set<FunctionNode>();
  const sinks: Sinks = new Map();
  for (const plan of plans) {
    if (plan.kind === "part") part(text, plan, helpers);
    else if (plan.posts) posted(text, plan, helpers, sinks);
    else call(text, plan, helpers, { made, sinks });
  }
  if (module.format === "module") {
    // First of all: what the language brings along is noted before packages can change it.
    text.appendLeft(afterDirectives(module), `import * as __flx from ${JSON.stringify(runtime)}; `);
    if (manifest !== null) {
      text.appendLeft(
        afterDirectives(module),
        `__flx.install({ manifest: new URL(${JSON.stringify(manifest)}, import.meta.url).href }); `,
      );
    }
  } else {
    const path = `__dirname + ${JSON.stringify(`/${manifest}`)}`;
    const install = `__flx.install({ manifest: require("node:url").pathToFileURL(${path}).href }); `;
    text.appendLeft(
      afterDirectives(module),
      `var __flx = require(${JSON.stringify(runtime)}); ${manifest !== null ? install : ""}`,
    );
  }
  for (const helper of helpers) text.append(`\n${helper}`);
  return text;
}

function afterDirectives({ syntax, text }: SourceModule): number {
  const first = syntax.body.find((each) => !("directive" in each && typeof each.directive === "string"));
  return first?.start ?? text.length;
}

function part(text: Text, plan: PartPlan, helpers: Set<string>): void {
  const { node, stage, receivers, inputs } = plan;
  if (node.body === null) return;
  const id = JSON.stringify(stage.id);
  const sink = sinkOf(text, plan.module, node, plan.door, helpers);
  const names = new Map(
    receivers.map(({ name, parameter }) => [name, nameOfReceiver(node, name, parameter)]),
  );
  const sent = inputs.map((input) => sentInput(input, helpers, names));
  const to = receivers.map(({ name, parameter }) => nameOfReceiver(node, name, parameter));
  const shadowed = shadows(plan);
  const patterns = node.params.flatMap((each, i) => (each.type === "Identifier" ? [] : [{ each, i }]));
  const opened = patterns.map(({ each }) => plan.module.text.slice(each.start, each.end));
  for (const { each, i } of patterns) text.overwrite(each.start, each.end, `__flx_${i}`);
  const asynchronous = node.async ? "async " : "";
  text.appendLeft(
    node.body.start,
    patterns.length === 0
      ? `{ const __flx_here = ${asynchronous}(${shadowed.map(({ name }) => name).join(", ")}) => `
      : `{ const __flx_here = (${shadowed.map(({ name }) => name).join(", ")}) => (${asynchronous}(${opened.join(", ")}) => `,
  );
  if (patterns.length > 0)
    text.appendRight(node.body.end, `)(${patterns.map(({ i }) => `__flx_${i}`).join(", ")})`);
  text.appendRight(
    node.body.end,
    `; if (!__flx.isMoved(${id})) return __flx_here(${shadowed.map(({ name }) => name).join(", ")}); return __flx.stage({ id: ${id}, inputs: [${sent.join(", ")}], ` +
      `receivers: [${to.join(", ")}], local: ${localOf(shadowed)} })${sink === null ? "" : `.then(undefined, ${sink})`}; }`,
  );
}

/** Variables of others, which may have another value when the original runs late, in place of a worker. */
function shadows({ inputs, node }: PartPlan): { name: string; i: number }[] {
  const parameters = new Set(node.params.map((each) => (each.type === "Identifier" ? each.name : "")));
  return inputs.flatMap((input, i) =>
    input.kind === "reads" || parameters.has(input.name) || input.name.startsWith("__flx_")
      ? []
      : [{ name: input.name, i }],
  );
}

function localOf(shadowed: readonly { i: number }[]): string {
  if (shadowed.length === 0) return "__flx_here";
  return `(__flx_i) => __flx_here(${shadowed.map(({ i }) => `__flx_i[${i}]`).join(", ")})`;
}

/** A parameter that was a pattern has a name of ours. */
function nameOfReceiver(node: FunctionNode, name: string, parameter: number | null): string {
  return parameter !== null && node.params[parameter]?.type !== "Identifier" ? `__flx_${parameter}` : name;
}

function sentInput(input: StageInput, helpers: Set<string>, names: ReadonlyMap<string, string>): string {
  if (input.kind !== "reads") return input.name;
  const { reads } = input;
  const receiver = names.get(input.receiver) ?? input.receiver;
  const byKey = new Map<string, string[] | null>();
  for (const [key = "", inner] of reads.paths) {
    byKey.set(key, inner === undefined ? null : [...(byKey.get(key) ?? []), inner]);
  }
  const fields = [...byKey].map(([key, inner]) => {
    const name = JSON.stringify(key);
    if (inner === null) return `${name}: __flx.read(${receiver}, ${name})`;
    helpers.add(PICK);
    return `${name}: __flx_pick(__flx.read(${receiver}, ${name}), ${JSON.stringify(inner)})`;
  });
  const answers = reads.questions.map(([method = "", ...args]) => {
    const given = [method, ...args].map((each) => JSON.stringify(each)).join(", ");
    return `${JSON.stringify([method, ...args].join(" "))}: __flx.ask(${receiver}, ${given})`;
  });
  return `{ fields: { ${fields.join(", ")} }, answers: { ${answers.join(", ")} } }`;
}

/** What was done already: functions that are asynchronous now, and where their errors go. */
interface Done {
  readonly made: Set<FunctionNode>;
  readonly sinks: Sinks;
}

function call(text: Text, plan: CallPlan, helpers: Set<string>, { made, sinks }: Done): void {
  const { node, stage, module, container, awaits } = plan;
  const id = JSON.stringify(stage.id);
  const callee = module.text.slice(node.callee.start, node.callee.end);
  const args = node.arguments.map(({ start, end }) => module.text.slice(start, end)).join(", ");
  const sent = [...plan.inputs.map((input) => sentInput(input, helpers, new Map())), "...__flx_a"];
  // Where it is a method of something else, or none at all, it is called as it stands.
  const isThere = plan.target === null ? "" : `typeof ${callee} === "function" && `;
  text.appendLeft(
    node.start,
    `(${isThere}__flx.isMoved(${id}) ? ${awaits ? "await " : ""}((...__flx_a) => __flx.stage({ id: ${id}, inputs: [${sent.join(", ")}], ` +
      `receivers: [], local: (__flx_i) => ${callee}(...__flx_i.slice(${plan.inputs.length})) }))(${args}) : `,
  );
  text.appendRight(node.end, ")");
  if (!awaits || !isFunction(container) || container.async || made.has(container)) return;
  made.add(container);
  makeAsync(text, plan, container, helpers, sinks);
}

type Sinks = Map<FunctionNode, string>;

/** The continuation stays where it is written; what it would be called with comes from a worker. */
function posted(text: Text, plan: CallPlan, helpers: Set<string>, sinks: Sinks): void {
  const { node, stage, module, container, inputs, door } = plan;
  if (!isFunction(container)) return;
  const id = JSON.stringify(stage.id);
  const callee = module.text.slice(node.callee.start, node.callee.end);
  const sent = [...inputs.map((input) => sentInput(input, helpers, new Map())), "...__flx_a.slice(0, -1)"];
  const sink =
    sinks.get(container) ?? sinkOf(text, module, container, door ?? "callback", helpers) ?? "undefined";
  sinks.set(container, sink);
  // `void` also keeps a statement from being a part of the line before it.
  text.appendLeft(
    node.start,
    `void (__flx.isMoved(${id}) ? (...__flx_a) => __flx.post({ id: ${id}, inputs: [${sent.join(", ")}], receivers: [], ` +
      `local: (__flx_i) => new Promise((__flx_d) => ${callee}(...__flx_i.slice(${inputs.length}), (...__flx_o) => __flx_d(__flx_o))) }, ` +
      "__flx_a.at(-1), " +
      `${sink}) : (...__flx_a) => `,
  );
  text.appendRight(node.callee.end, "(...__flx_a))");
}

/** A listener becomes asynchronous; what it throws goes where it went before. */
function makeAsync(
  text: Text,
  { module, door }: CallPlan,
  container: FunctionNode,
  helpers: Set<string>,
  sinks: Sinks,
): void {
  const { body } = container;
  if (body === null) return;
  const sink = sinks.get(container) ?? sinkOf(text, module, container, door ?? "then", helpers);
  if (sink !== null) sinks.set(container, sink);
  text.appendLeft(container.start, "async ");
  if (sink === null) return;
  const isExpression = body.type !== "BlockStatement";
  text.appendLeft(body.start, isExpression ? "{ try { return " : "{ try ");
  text.appendRight(body.end, `${isExpression ? "; }" : ""} catch (__flx_e) { ${sink}(__flx_e); } }`);
}

/** Where an error of a listener goes: to Express by `next`, to the process, or (null) to the holder of its promise. */
function sinkOf(
  text: Text,
  module: SourceModule,
  node: FunctionNode,
  door: PartPlan["door"],
  helpers: Set<string>,
): string | null {
  if (node.async || door === "then") return null;
  if (door !== "express") {
    helpers.add(THROW);
    return "__flx_throw";
  }
  return nextOf(text, module, node);
}

function nextOf(text: Text, module: SourceModule, node: FunctionNode): string {
  const index = node.params.length === 4 ? 3 : 2;
  const known = node.params[index];
  if (known?.type === "Identifier") return known.name;
  const added = ["__flx_req", "__flx_res", "__flx_next"].slice(node.params.length);
  const last: Node | undefined = node.params.at(-1);
  if (last === undefined) {
    text.appendLeft(module.text.indexOf("(", node.id?.end ?? node.start) + 1, added.join(", "));
  } else if (node.type === "ArrowFunctionExpression" && last.start === node.start) {
    text.appendLeft(last.start, "(");
    text.appendRight(last.end, `, ${added.join(", ")})`);
  } else {
    text.appendRight(last.end, `, ${added.join(", ")}`);
  }
  return "__flx_next";
}
