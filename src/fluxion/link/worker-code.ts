import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";
import {
  asExpression,
  type CallPlan,
  exportsOf,
  type ModuleSlice,
  type PartPlan,
  type StagePlan,
} from "../pipeliner/index.js";
import { nameOf } from "../points-to/index.js";
import { AROUND_PART } from "../runtime/stack.js";
import type { Node, SourceModule } from "../source/index.js";
import { importedAddress, requiredFile } from "./resolve.js";
import { Bundle, Text } from "./text.js";

/** What stands for a request or a response also answers what was read of it before. Anything else is the recorder's. */
const READS = `const $reads = (to, { fields, answers }) => new Proxy({}, {
  get: (_, key) => {
    if (Object.hasOwn(fields, key)) return fields[key];
    const asked = Object.keys(answers).some((each) => each.split(" ")[0] === key);
    return asked ? (...args) => answers[[key, ...args].join(" ")] : to[key];
  },
  set: (_, key, value) => { to[key] = value; fields[key] = value; return true; },
  has: (_, key) => key in to,
  deleteProperty: (_, key) => delete to[key],
  ownKeys: () => Reflect.ownKeys(to),
  getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(to, key),
  getPrototypeOf: () => Reflect.getPrototypeOf(to),
});`;

/** Where the worker module of a file is, and what it is written in. */
export interface WorkerFile {
  readonly name: string;
  readonly format: SourceModule["format"];
}

/** Where a program that is written to a folder lies then. */
export interface OutputFolder {
  readonly worker: string;
  file(path: string): string;
}

export interface WorkerOptions {
  readonly files: ReadonlyMap<SourceModule, WorkerFile>;
  readonly place: OutputFolder | null;
}

/** What workers load of one file: the slice of its declarations that stages need, and its stages. */
export function workerCode(slice: ModuleSlice, plans: readonly StagePlan[], options: WorkerOptions): Bundle {
  const { module } = slice;
  const bundle = new Bundle({ separator: "\n" });
  const add = (content: Text | string) =>
    bundle.addSource(
      typeof content === "string" ? { content: new Text(content) } : { filename: module.path, content },
    );
  const text = withPaths(module, options);
  add(header(slice, plans, options));
  for (const piece of [...slice.pieces].sort((a, b) => a.start - b.start)) {
    const kept = keptText(text, piece);
    if (kept !== null) add(kept);
  }
  for (const each of exported(slice, text)) add(each);
  add(module.format === "module" ? "export const stages = {" : "exports.stages = {");
  const stages = plans.map((plan): Piece => {
    const { start, end } = plan.kind === "part" ? plan.node : (plan.target?.node ?? plan.node.callee);
    return { start, end, ...around(plan, options) };
  });
  for (const each of sideBySide(stages)) add(only(text, each));
  add("};");
  return bundle;
}

/** A piece of a file, and what is written around it. */
interface Piece {
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

/** In lists of pieces of which none is inside of another: a text can be cut into all pieces of such a list at once. */
function sideBySide(pieces: readonly Piece[]): Piece[][] {
  const lists: Piece[][] = [];
  for (const piece of pieces.toSorted((a, b) => a.start - b.start)) {
    const free = lists.find((list) => (list.at(-1)?.end ?? 0) <= piece.start);
    if (free === undefined) lists.push([piece]);
    else free.push(piece);
  }
  return lists;
}

function only(text: Text, pieces: readonly Piece[]): Text {
  const kept = text.clone();
  let at = 0;
  for (const { start, end } of pieces) {
    if (start > at) kept.remove(at, start);
    at = end;
  }
  if (at < text.original.length) kept.remove(at, text.original.length);
  for (const [i, { start, end, before, after }] of pieces.entries()) {
    kept.prependRight(start, i === 0 ? before : `\n${before}`);
    kept.appendLeft(end, after);
  }
  return kept;
}

/** Imports as they are found from where the worker module lies. */
function withPaths(module: SourceModule, { files, place }: WorkerOptions): Text {
  const text = new Text(module.text, { filename: module.path });
  for (const { node, specifier } of module.loads) {
    if (node.type !== "CallExpression") continue;
    const worker = ownWorker(module, specifier, files);
    const to = worker === null ? outside(module, specifier, place, requiredFile) : `./${worker.name}`;
    text.overwrite(node.start, node.end, `require(${JSON.stringify(to)})${worker === null ? "" : ".slice"}`);
  }
  const path = place === null ? module.path : place.file(module.path);
  for (const { start, end, property } of module.metas) {
    const key = nameOf(property);
    const value = key === "url" ? pathToFileURL(path).href : key === "filename" ? path : dirname(path);
    text.overwrite(start, end, JSON.stringify(value));
  }
  return text;
}

/** Files that are not compiled: packages, and files that are only loaded, such as JSON. */
function outside(
  module: SourceModule,
  specifier: string,
  place: OutputFolder | null,
  find: (specifier: string, from: string) => string,
): string {
  const own = module.imports.get(specifier);
  if (place === null) return find(own ?? specifier, module.path);
  return own === undefined ? specifier : `./${relative(place.worker, place.file(own)).replaceAll("\\", "/")}`;
}

function ownWorker(
  module: SourceModule,
  specifier: string,
  files: WorkerOptions["files"],
): WorkerFile | null {
  const target = module.imports.get(specifier);
  if (target === undefined) return null;
  for (const [each, file] of files) if (each.path === target) return file;
  return null;
}

function header(slice: ModuleSlice, plans: readonly StagePlan[], options: WorkerOptions): string {
  const { files, place } = options;
  const { module, streamed, names } = slice;
  const lines: string[] = [];
  for (const declaration of importDeclarations(slice))
    lines.push(...importLines(module, declaration, slice, options));
  for (const other of talkative(plans, module)) {
    const file = files.get(other);
    if (file === undefined) continue;
    lines.push(
      module.format === "module"
        ? `import { talkTo as $talk${file.name.replace(/\W/g, "_")} } from "./${file.name}";`
        : `const { talkTo: $talk${file.name.replace(/\W/g, "_")} } = require("./${file.name}");`,
    );
  }
  const path = place === null ? module.path : place.file(module.path);
  if (names.has("__filename")) lines.push(`var __filename = ${JSON.stringify(path)};`);
  if (names.has("__dirname")) lines.push(`var __dirname = ${JSON.stringify(dirname(path))};`);
  for (const { name } of streamed) lines.push(`let ${name};`);
  if (slice.console) {
    lines.push("let console = globalThis.console;");
    lines.push(
      module.format === "module"
        ? "export const talkTo = (to) => { console = to; };"
        : "exports.talkTo = (to) => { console = to; };",
    );
  }
  if (plans.some(({ inputs }) => inputs.some(({ kind }) => kind === "reads"))) lines.push(READS);
  return lines.join("\n");
}

/** Other files whose functions write to the console. */
function talkative(plans: readonly StagePlan[], module: SourceModule): Set<SourceModule> {
  const found = new Set<SourceModule>();
  for (const { slices } of plans) {
    for (const [other, slice] of slices) if (slice.console && other !== module) found.add(other);
  }
  return found;
}

function importDeclarations({ pieces }: ModuleSlice): Set<Node & { type: "ImportDeclaration" }> {
  const found = new Set<Node & { type: "ImportDeclaration" }>();
  for (const { parent } of pieces) if (parent?.type === "ImportDeclaration") found.add(parent);
  return found;
}

function importLines(
  module: SourceModule,
  declaration: Node & { type: "ImportDeclaration" },
  { pieces }: ModuleSlice,
  { files, place }: WorkerOptions,
): string[] {
  const specifier = declaration.source.value;
  const wanted = declaration.specifiers.filter((each) => pieces.has(each));
  const worker = ownWorker(module, specifier, files);
  if (worker === null) {
    const address = JSON.stringify(outside(module, specifier, place, importedAddress));
    const json = /\.json$/.test(specifier) ? ' with { type: "json" }' : "";
    return wanted.map((each) => {
      const local = each.local.name;
      if (each.type === "ImportNamespaceSpecifier") return `import * as ${local} from ${address};`;
      if (each.type === "ImportDefaultSpecifier") return `import ${local} from ${address}${json};`;
      return `import { ${nameOf(each.imported)} as ${local} } from ${address};`;
    });
  }
  const from = `$${worker.name.replace(/\W/g, "_")}`;
  const names = wanted.map((each) => {
    const local = each.local.name;
    if (each.type === "ImportSpecifier") return `const ${local} = ${from}.${nameOf(each.imported)};`;
    const isDefault = each.type === "ImportDefaultSpecifier" && worker.format === "module";
    return `const ${local} = ${from}${isDefault ? ".default" : ""};`;
  });
  return [`import { slice as ${from} } from "./${worker.name}";`, ...names];
}

function keptText(text: Text, piece: Node): Text | null {
  if (piece.parent?.type === "ImportDeclaration") return null;
  const kept = text.snip(piece.start, piece.end);
  if (piece.type === "VariableDeclarator" && piece.parent?.type === "VariableDeclaration") {
    kept.prepend(`${piece.parent.kind} `);
    kept.append(";");
  }
  return kept;
}

/** What other files take from here. */
function exported({ module, exports }: ModuleSlice, text: Text): (Text | string)[] {
  if (exports.size === 0) return [];
  const table = exportsOf(module);
  const opening = module.format === "module" ? "export const slice = " : "exports.slice = ";
  const whole = exports.has(null) ? table.get(null) : undefined;
  if (whole !== undefined) return [wrapped(text, whole, opening, ";")];
  const parts: (Text | string)[] = [`${opening}{`];
  for (const key of exports) {
    const node = table.get(key);
    if (key === null || node === undefined) continue;
    parts.push(
      node.type === "Identifier"
        ? `get ${JSON.stringify(key)}() { return ${node.name}; },`
        : wrapped(text, node, `${JSON.stringify(key)}: (`, "),"),
    );
  }
  return [...parts, "};"];
}

function wrapped(text: Text, { start, end }: Node, before: string, after: string): Text {
  const kept = text.snip(start, end);
  kept.prepend(before);
  kept.append(after);
  return kept;
}

function around(plan: StagePlan, { files }: WorkerOptions): { before: string; after: string } {
  const id = JSON.stringify(plan.stage.id);
  return plan.kind === "part" ? aroundPart(id, plan, files) : aroundCall(id, plan);
}

function aroundCall(
  id: string,
  { inputs, posts, container, target }: CallPlan,
): { before: string; after: string } {
  const set = inputs.map((input, i) => (input.kind === "file" ? `${input.name} = $in[${i}]; ` : ""));
  // In stack traces it is the function that makes the call.
  const name = JSON.stringify(calledIn(container));
  if (posts) {
    return {
      before: `${id}: { ${name}: ($in) => { ${set.join("")}return new Promise(($done) => `,
      after: `(...$in.slice(${inputs.length}), (...$out) => $done($out))); } }[${name}],`,
    };
  }
  if (target !== null) {
    // What stands in a class is strict.
    return {
      before: `${id}: { ${name}: ($in) => { "use strict"; ${set.join("")}return (${asExpression(target.node)}`,
      after: `)(...$in.slice(${inputs.length})); } }[${name}],`,
    };
  }
  return {
    before: `${id}: { ${name}: ($in) => { ${set.join("")}return `,
    after: `(...$in.slice(${inputs.length})); } }[${name}],`,
  };
}

/** What Node calls a function in stack traces. */
function calledIn(body: CallPlan["container"]): string {
  if (body.type === "Program") return "<anonymous>";
  const { parent } = body;
  if (body.id) return body.id.name;
  const named = parent?.type === "VariableDeclarator" ? parent.id : null;
  return named?.type === "Identifier" ? named.name : "<anonymous>";
}

function aroundPart(
  id: string,
  plan: PartPlan,
  files: WorkerOptions["files"],
): { before: string; after: string } {
  const { node, inputs, receivers, module, slices } = plan;
  const readsOf = new Map(
    inputs.flatMap((each, i) => (each.kind === "reads" ? [[each.receiver, i] as const] : [])),
  );
  const recorder = (name: string, i: number) => {
    const reads = readsOf.get(name);
    return reads === undefined ? `$to[${i}]` : `$reads($to[${i}], $in[${reads}])`;
  };
  const lines: string[] = [];
  const args: string[] = [];
  let value = 0;
  for (let i = 0; i < node.params.length; i++) {
    const at = receivers.findIndex(({ parameter }) => parameter === i);
    args.push(at < 0 ? `$in[${value++}]` : recorder(receivers[at]?.name ?? "", at));
  }
  for (const [i, input] of inputs.entries()) {
    if (input.kind === "file") lines.push(`${input.name} = $in[${i}];`);
    if (input.kind === "value" && i >= value) lines.push(`const ${input.name} = $in[${i}];`);
  }
  for (const [i, { kind, name, parameter }] of receivers.entries()) {
    if (kind === "console") {
      for (const [other, slice] of slices) {
        if (!slice.console) continue;
        lines.push(
          other === module
            ? `console = $to[${i}];`
            : `$talk${files.get(other)?.name.replace(/\W/g, "_")}($to[${i}]);`,
        );
      }
    } else if (parameter === null) {
      lines.push(`const ${name} = ${recorder(name, i)};`);
    }
  }
  return {
    before: `${id}: { ${AROUND_PART}: ($in, $to) => { ${lines.join(" ")} return (`,
    after: `)(${args.join(", ")}); } }.${AROUND_PART},`,
  };
}
