import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { headwater, packageWith, ROOT, runHere, write } from "./headwater.js";

const COUNTER = `
  import { Context } from "headwater";
  import { step } from "./step.js"; // written in TypeScript, imported as what it becomes
  enum Way { Up, Down }
  export default class Counter extends Context {
    count: number = 0;
    bump(way: Way = Way.Up) { return (this.count += way === Way.Up ? step : -step); }
  }
  export async function main({ root }: { root: { bump(): Promise<number> } }, io: { print(line: string): void }) {
    io.print(\`count \${await root.bump()}\`);
    io.print(\`count \${await root.bump()}\`);
  }`;
const STEP = "export const step: number = 2;";

test("a program outside this package, in TypeScript, shares the one headwater that runs it", async (t) => {
  const folder = packageWith(t, { "counter.ts": COUNTER, "step.ts": STEP });
  const { exitCode, stdout, stderr } = await runHere(folder, "run", "counter.ts");
  assert.equal(stdout, "count 2\ncount 4\n", stderr);
  assert.equal(exitCode, 0);
  assert.match(stderr, /^Running Counter from counter\.ts, on one host, in memory\. Ctrl-C stops it\.$/m);
});

test("PROGRAM may leave out the ending or be a folder; .mts needs no package.json that says module", async (t) => {
  const plain =
    'import { Context } from "headwater"; export default class P extends Context {}; export function main(_, io) { io.print(import.meta.url.split("/").slice(-2).join("/")); }';
  const folder = packageWith(t, {
    "a.ts": plain.replace("_, io", "_: unknown, io: { print(line: string): void }"),
    "b.js": plain,
    "c.mjs": plain,
    "d/index.ts": plain,
  });
  for (const [name, file] of [
    ["a", "a.ts"],
    ["b", "b.js"],
    ["c", "c.mjs"],
    ["d", "d/index.ts"],
  ] as const) {
    const { stdout, stderr } = await runHere(folder, "run", name);
    assert.ok(stdout.endsWith(`${file}\n`), `${name}: ${stdout}${stderr}`);
  }
  const common = packageWith(t, { "p.mts": plain }, "commonjs");
  assert.match((await runHere(common, "run", "p")).stdout, /p\.mts\n$/);
});

test("an object of root classes runs as several logical nodes; --json gives one object per line", async (t) => {
  const folder = packageWith(t, {
    "two.ts": `
      import { Context } from "headwater";
      class Printer extends Context { lines = 0; print(_line: string) { this.lines += 1; } fail() { throw new Error("out of ink"); } }
      class Compute extends Context {
        step() { this.event.send(this.event.peer(Printer)).print("done"); this.event.send(this.event.peer(Printer)).fail(); }
      }
      export default { compute: Compute, printer: Printer };
      export async function main({ nodes }: { nodes: { compute: { step(): Promise<void> } } }, io: { print(line: string): void; forever: boolean }) {
        await nodes.compute.step();
        io.print("stepped, forever: " + io.forever);
      }`,
  });
  const { exitCode, stdout } = await runHere(
    folder,
    "run",
    "two",
    "--json",
    "--forever",
    "--commit-order",
    "total",
  );
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
  const [running, ...others] = lines;
  assert.equal(running?.kind, "running");
  assert.deepEqual(running?.nodes, { compute: "Compute", printer: "Printer" });
  assert.deepEqual(
    others.find(({ kind }) => kind === "print"),
    { kind: "print", line: "stepped, forever: true" },
  );
  const failure = others.find(({ kind }) => kind === "failure");
  const { stack, ...said } = failure ?? {};
  assert.deepEqual(said, {
    kind: "failure",
    context: "printer",
    method: "fail",
    startedBy: "message",
    name: "Error",
    message: "out of ink",
    unreported: 0,
  });
  assert.match(String(stack), /^ {4}at Printer\.fail \(.*two\.ts:3:/);
  assert.equal(exitCode, 0);
});

test("the run waits for the events that main left behind, and ends though the program keeps a handle open", async (t) => {
  const folder = packageWith(t, {
    "chain.ts": `
      import { Context } from "headwater";
      let print = (_line: string) => {};
      export default class Chain extends Context {
        go(left: number) { if (left > 0) this.event.start(this.above(Chain)).go(left - 1); else print("the end"); }
      }
      setInterval(() => {}, 1000);
      export async function main({ root }: { root: { go(left: number): Promise<void> } }, io: { print(line: string): void }) {
        print = io.print;
        await root.go(100);
      }`,
  });
  assert.deepEqual((await runHere(folder, "run", "chain")).stdout, "the end\n");
});

test("an error in main is reported with its place and its code, and the exit code is 1", async (t) => {
  const program = (method: string) => `
      import { Context, type Service } from "headwater";
      export default class Bad extends Context { store() { return () => 1; } fail() { throw new Error("no luck"); } }
      export async function main({ root }: Service<Bad>) { await root.${method}(); }`;
  const folder = packageWith(t, { "store.ts": program("store"), "fail.ts": program("fail") });
  const coded = await runHere(folder, "run", "store");
  assert.match(coded.stderr, /^error HW-1006: the result of Bad\.store\(…\)/m);
  assert.match(coded.stderr, /headwater explain HW-1006/);
  assert.equal(coded.exitCode, 1);
  const plain = await runHere(folder, "run", "fail");
  assert.match(plain.stderr, /^error no luck$/m);
  assert.match(plain.stderr, /at Bad\.fail .*fail\.ts:3:/);
  assert.equal(plain.exitCode, 1);
});

const unloadable: [what: string, text: string, reason: RegExp][] = [
  ["a syntax error", "export default class {", /failed while loading: .*(Expected|Unexpected)/s],
  ["an error at its top level", 'throw new Error("not today");', /failed while loading: not today/],
  ["an import that is not there", 'import "./absent.js";', /failed while loading: Cannot find module/],
  ["no default export", "export const a = 1;", /it has no default export/],
  ["another default export", "export default 42;", /neither a class that extends Context nor an object/],
  ["an empty object", "export default {};", /neither a class that extends Context nor an object/],
  [
    "a class that is no context",
    "export default class Plain {}",
    /its default export is not a class that extends Context/,
  ],
  [
    "a node that is no context",
    "export default { a: class Plain {} };",
    /`a` of its default export is not a class/,
  ],
  [
    "a main that is no function",
    'import { Context } from "headwater"; export default class P extends Context {}; export const main = 1;',
    /exports as `main` is not a function/,
  ],
];

test("a program that cannot be loaded is refused with HW-2002, the file and the reason", async (t) => {
  const files = Object.fromEntries(unloadable.map(([, text], i) => [`p${i}.ts`, text]));
  const folder = packageWith(t, files);
  for (const [i, [what, , reason]] of unloadable.entries()) {
    const { exitCode, stderr } = await headwater("run", join(folder, `p${i}`));
    assert.match(stderr, /^error HW-2002: /m, what);
    assert.match(stderr, reason, what);
    assert.ok(stderr.includes(`p${i}.ts could not be loaded`), what);
    assert.equal(exitCode, 1, what);
  }
});

test("the examples of the package run from any folder, and a file of the folder goes first", async (t) => {
  const elsewhere = packageWith(t, {});
  const { stdout, exitCode } = await runHere(elsewhere, "run", "examples/bank");
  assert.equal(exitCode, 0);
  assert.match(stdout, /^three accounts: /);
  const own =
    'import { Context } from "headwater"; export default class Own extends Context {} export function main(_, io) { io.print("own"); }';
  const folder = packageWith(t, { "examples/bank.mjs": own });
  assert.equal((await runHere(folder, "run", "examples/bank")).stdout, "own\n");
});

test("a program that is not there, or is no ES module, is refused with what to do", async (t) => {
  const folder = packageWith(t, { "p.ts": COUNTER, "notes.txt": "" }, "commonjs");
  const absent = await runHere(folder, "run", "absent");
  assert.match(absent.stderr, /HW-2004: There is no program "absent" in .*\.ts, \.mts, \.js, \.mjs/);
  const text = await runHere(folder, "run", "notes.txt");
  assert.match(text.stderr, /HW-2002: .*notes\.txt is not a program/);
  const common = await runHere(folder, "run", "p.ts");
  assert.match(
    common.stderr,
    /HW-2002: .*p\.ts is not an ES module: .*package\.json does not say so.*\.mts\./,
  );
});

test("a program that imports another copy of headwater is told so", async (t) => {
  const folder = packageWith(t, { "counter.ts": COUNTER, "step.ts": STEP });
  const copy = join(folder, "node_modules", "headwater");
  rmSync(copy);
  mkdirSync(copy);
  cpSync(join(ROOT, "dist"), join(copy, "dist"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(copy, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "dir"); // what a copy is installed with
  const { exitCode, stderr } = await runHere(folder, "run", "counter");
  assert.match(stderr, /HW-2002: .*extends the Context of another copy of headwater/);
  assert.equal(exitCode, 1);
});

test("a malformed program is refused with the code of the rule it breaks", async (t) => {
  const folder = packageWith(t, {});
  write(folder, {
    "p.ts":
      'import { AnonymousContext, Context } from "headwater"; class A extends AnonymousContext { n = 0; } export default class P extends Context { a = this.child(A); }',
  });
  const { exitCode, stderr } = await runHere(folder, "run", "p");
  assert.match(stderr, /^error HW-1013: /m);
  assert.equal(exitCode, 1);
});

test("with --journal, a later run goes on where the last one ended", async (t) => {
  const folder = packageWith(t, { "counter.ts": COUNTER, "step.ts": STEP });
  const first = await runHere(folder, "run", "counter", "--journal", "data");
  assert.equal(first.stdout, "count 2\ncount 4\n", first.stderr);
  assert.match(first.stderr, /^Running Counter from counter\.ts, on one host, with the journal data\. /m);
  const second = await runHere(
    folder,
    "run",
    "counter",
    "--journal",
    "data",
    "--durability",
    "written",
    "--json",
  );
  const [running, ...printed] = second.stdout.split("\n").filter((line) => line !== "");
  assert.equal((JSON.parse(running ?? "") as { journal: string }).journal, "data");
  assert.deepEqual(
    printed.slice(0, 2).map((line) => (JSON.parse(line) as { line: string }).line),
    ["count 6", "count 8"],
  );
});

test("a durability that is none, or without a journal, is not understood", async () => {
  const wrong = await headwater("run", "counter", "--journal", "data", "--durability", "writen");
  assert.match(
    wrong.stderr,
    /HW-2001: --durability is synced or written, not "writen"\. Did you mean "written"\?/,
  );
  const alone = await headwater("run", "counter", "--durability", "written");
  assert.match(alone.stderr, /HW-2001: --durability .* needs --journal/);
  assert.deepEqual([wrong.exitCode, alone.exitCode], [2, 2]);
});
