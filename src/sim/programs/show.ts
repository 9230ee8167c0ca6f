import { showPath } from "../../model/path.js";
import type {
  CallSpec,
  ClassSpec,
  Expr,
  FieldSpec,
  MethodSpec,
  Op,
  PathStep,
  ProgramSpec,
  RequestSpec,
  WholeOp,
} from "./program.js";
import { rootOf } from "./prune.js";

/** Prints generated programs the way one would have written them, for people to read. */

export function show(spec: ProgramSpec, workload: readonly RequestSpec[]): string {
  const used = reachable(spec);
  // The last class first, so that a class stands before its users.
  const classes = [...used].sort((a, b) => b - a).map((index) => showClass(spec, index));
  const nodes = spec.nodes.map(({ name, root }) => `${name}: ${nameOf(spec, root)}`).join(", ");
  return [...classes, `run({ ${nodes} });`, workload.map(showRequest).join("\n")].join("\n\n");
}

function showRequest({ node, path, method, args, client, after }: RequestSpec, index: number): string {
  const who = client === null ? "" : `${client}.`;
  const when = after === null ? "" : ` // after r${after} was acknowledged`;
  return `const r${index} = ${who}${node}${showPath(path)}.${method}(${args.join(", ")});${when}`;
}

function nameOf(spec: ProgramSpec, index: number): string {
  return spec.classes[index]?.name ?? "nothing";
}

function reachable({ nodes, classes }: ProgramSpec): Set<number> {
  const found = new Set(nodes.map(({ root }) => root));
  for (const index of found) for (const { cls } of classes[index]?.slots ?? []) found.add(cls);
  return found;
}

function showClass(spec: ProgramSpec, index: number): string {
  const { name, anonymous, fields, slots, methods } = spec.classes[index] as ClassSpec;
  const lines = [
    ...fields.map((field) => `${field.name} = ${showInitial(field)};`),
    ...slots.map(({ name: slot, style, cls }) => {
      return `${slot} = this.${style === null ? "child" : "children"}(${nameOf(spec, cls)});`;
    }),
    ...methods.flatMap((method) => showMethod(spec, index, method)),
  ];
  const base = anonymous ? "AnonymousContext" : "Context";
  return [`class ${name} extends ${base} {`, ...indented(lines), "}"].join("\n");
}

function showInitial({ kind }: FieldSpec): string {
  const initial = {
    number: "1",
    list: "[]",
    map: "new Map()",
    set: "new Set()",
    record: "{ n: 0, tags: [], bytes: Buffer.of(0) }",
    timer: '""',
    tlist: "tracked.list()",
    tmap: "tracked.map()",
    tset: "tracked.set()",
  };
  return initial[kind];
}

function showMethod(spec: ProgramSpec, index: number, method: MethodSpec): string[] {
  const marks = [
    ...(method.readonly ? ["@readonly"] : []),
    ...(method.reads.length > 0
      ? [`@reads(${method.reads.map((cls) => nameOf(spec, cls)).join(", ")})`]
      : []),
  ];
  const isAsync = method.async || waits(method.body) ? "async " : "";
  const result = method.returns === null ? "acc" : `{ acc, seen: this.${method.returns} }`;
  const body = [...showOps(spec, index, method.body), `return ${result};`];
  return [...marks, `${isAsync}${method.name}(a, b, fuel, acc = 0) {`, ...indented(body), "}"];
}

function waits(body: readonly Op[]): boolean {
  return body.some((op) => {
    if (op.op === "during") return true;
    if ("body" in op) return waits(op.body);
    if (op.op === "branches") return op.join !== "none";
    if (op.op === "own") return op.awaited;
    return ["call", "par", "list", "delete", "pause", "breathe", "stray", "pass"].includes(op.op);
  });
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function showOps(spec: ProgramSpec, index: number, ops: readonly Op[]): string[] {
  return ops.flatMap((op) => showOp(spec, index, op));
}

/** `see(x)` stands for mixing x into `acc`; `mix` and `digest` are in `data.ts`. */
function showOp(spec: ProgramSpec, index: number, op: Op): string[] {
  const root = `this.above(${nameOf(spec, rootOf(spec, index))})`;
  switch (op.op) {
    case "change":
      return [`change(this.${op.field}, ${op.drop ? "drop" : "add"}, ${op.value});`];
    case "get":
      return [op.field === null ? "see(...all fields of this);" : `see(this.${op.field});`];
    case "call":
      return [`see(await ${showCall("this", op.call)});`];
    case "par":
      return [
        `see(...await ${op.hasty ? "Promise.all" : "all"}([`,
        ...indented(op.calls.map((call) => `${showCall("this", call)},`)),
        ...(op.also == null ? [] : indented([`${showWhole(op.also)}, // after the first`])),
        "]));",
      ];
    case "branches": {
      const functions = op.branches.flatMap((body) => [
        "(async () => {",
        ...indented(showOps(spec, index, body)),
        "})(),",
      ]);
      if (op.join === "none") return ["void [", ...indented(functions), "]; // not awaited"];
      return [`see(await Promise.${op.join}([`, ...indented(functions), "]));"];
    }
    case "during": {
      const forks = Array.from({ length: op.forks }, () => "void promise.then(see);");
      const made = `const promise = ${showCall("this", op.call)};`;
      return [
        "{",
        ...indented([made, ...forks, ...showOps(spec, index, op.body)]),
        "  see(await promise);",
        "}",
      ];
    }
    case "breathe":
      return [Array.from({ length: op.turns }, () => "await null;").join(" ")];
    case "own": {
      const own = `this.${op.method}(${op.args.join(", ")}, 0)`;
      return [op.awaited ? `see(await ${own});` : `void ${own}; // not awaited`];
    }
    case "list":
    case "delete":
      return [`see(await ${showWhole(op)});`];
    case "try":
      return ["try {", ...indented(showOps(spec, index, op.body)), "} catch (error) {", "  see(error);", "}"];
    case "if":
      return [`if (${op.of} % ${op.mod} === ${op.is}) {`, ...indented(showOps(spec, index, op.body)), "}"];
    case "throw":
      return [`throw new RangeError(\`${op.text} \${acc}\`);`];
    case "downgrade":
      return ["this.downgrade();"];
    case "start":
      return [
        showLater("start", { self: "this", root, parent: "this.event.parent(Context)" }[op.from], op.call),
      ];
    case "send": {
      const { name, root: peer } = spec.nodes[op.node] ?? { name: "?", root: 0 };
      return [showLater("send", `this.event.peer(${nameOf(spec, peer)}, "${name}")`, op.call)];
    }
    case "tell":
      return [
        `this.event.send(${op.client === null ? "this.event.caller" : `"${op.client}"`}, { acc, value: [${op.value}] });`,
      ];
    case "timer": {
      const keep = op.keep === null ? "" : `this.${op.keep} = `;
      const target = op.at == null ? "" : `this.above(${nameOf(spec, op.at)})`;
      const after = (ms: string, fuel: string) =>
        op.at == null
          ? `this.event.after(${ms}, this.${op.method}, ${op.args.join(", ")}, ${fuel});`
          : `this.event.after(${ms}, ${target}).${op.method}(${op.args.join(", ")}, ${fuel});`;
      const many = `for (let i = 1; i < ${op.count}; i++) ${after(`${op.ms} + ((i * 7) % 13)`, "0")}`;
      return [
        ...(op.count === undefined ? [] : [`if (fuel > 0) ${many}`]),
        `if (fuel > 0) ${keep}${after(String(op.ms), "fuel - 1")}`,
      ];
    }
    case "outside": {
      if (op.at != null && op.into !== null) {
        const above = `this.above(${nameOf(spec, op.at)})`;
        const then = `${op.into}(${op.value}, fuel - 1)`;
        return [`if (fuel > 0) this.event.outside(somewhere, ${op.value}, ${above}).${then};`];
      }
      const then = op.into === null ? "" : `, this.${op.into}`;
      return [`if (fuel > 0) this.event.outside(somewhere, ${op.value}${then});`];
    }
    case "cancel":
      return [`if (this.${op.field} !== "") this.event.cancel(this.${op.field});`];
    case "read":
      return [`see(this.event.read(${nameOf(spec, op.cls)}));`];
    case "know":
      return ["see(ticket, node, address, sender and parent of this.event);"];
    case "pause":
      return [`await pause(${op.units});`];
    case "forget":
      return [`void ${showCall("this", op.call)}${op.followedUp ? ".then(…)" : ""}; // not awaited`];
    case "stray":
      return [`see(await ${showCall(root, op.call)}); // not always below`];
    case "pass":
      return [`see(await ${showCall("this", { ...op.call, args: ["() => acc", op.call.args[1]] })});`];
    case "store":
      return [`this.${op.field} = () => acc;`];
    case "break":
      return [`${op.rule.replaceAll(" ", "_")}();`];
  }
}

function showWhole(op: WholeOp): string {
  if (op.op === "delete") return `this.event.delete(this${op.path.map(showStep).join("")})`;
  return `twoPages(this.event.list(this.${op.field}, { limit: ${op.limit} }))`;
}

type ShownCall = Pick<CallSpec, "path" | "method"> & { args: readonly (Expr | string)[] };

function showCall(from: string, { path, method, args }: ShownCall): string {
  return `${from}${path.map(showStep).join("")}.${method}(${args.join(", ")}, fuel)`;
}

function showLater(verb: "start" | "send", from: string, { path, method, args }: CallSpec): string {
  const target = `${from}${path.map(showStep).join("")}`;
  return `if (fuel > 0) this.event.${verb}(${target}).${method}(${args.join(", ")}, fuel - 1);`;
}

function showStep({ field, style, keys, key }: PathStep): string {
  if (style === null) return `.${field}`;
  const n = typeof key === "number" ? String(key % keys) : `${key} % ${keys}`;
  if (style === "number") return `.${field}(${n})`;
  return style === "text" ? `.${field}(\`k\${${n}}\`)` : `.${field}(${n}, (${n}) + 1)`;
}
