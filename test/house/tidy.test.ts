import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn, importsOf, linesMatching, type SourceFile, withoutComments } from "./source.js";

/** The core is a pure state machine: no clock, no chance, no timers, no promises (ARCHITECTURE.md). */
const IMPURE =
  /\b(Date|performance|process|Promise|async|await|queueMicrotask|set(Timeout|Interval|Immediate))\b|\bMath\.random\b/;

const KNOWS_NODE = [
  "kit",
  "dashboard",
  "dataflow",
  "cluster",
  "pgwire",
  "cli",
  "packages",
  "host",
  "net",
  "provision",
  "sim",
  "journal",
  "server",
  "fluxion",
  "streams",
];

const LINES_MAX = 400;

const src = filesIn(["src"], [".ts"]);
const own = [...src, ...filesIn(["test", "examples", "bench", "scripts"], [".ts"])];
const prose = filesIn(
  ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "bench", "package.json", ".ci"],
  ["", ".md"],
);

function part(path: string): string {
  return (
    path
      .replace(/^src\//, "")
      .replace(/\.ts$/, "")
      .split("/")[0] ?? ""
  );
}

function code(files: readonly SourceFile[]): SourceFile[] {
  return files.map(({ path, text }) => ({ path, text: withoutComments(text) }));
}

test("the core imports nothing but its own files and errors", () => {
  const core = src.filter(({ path }) => part(path) === "core");
  assert.ok(core.length > 0);
  const wrong = core.flatMap(({ path, text }) =>
    importsOf(text).flatMap((specifier) =>
      /^\.\/[\w-]+\.js$/.test(specifier) || specifier === "../errors.js"
        ? []
        : [`${path} imports ${specifier}`],
    ),
  );
  assert.deepEqual(wrong, []);
});

test("the core has no clock, no chance, no timers and no promises", () => {
  const core = code(src.filter(({ path }) => part(path) === "core"));
  assert.deepEqual(linesMatching(core, IMPURE), []);
});

test("only what runs programs, keeps journals or listens knows Node", () => {
  const wrong = src.flatMap(({ path, text }) =>
    importsOf(text).flatMap((specifier) =>
      specifier.startsWith("node:") && !KNOWS_NODE.includes(part(path))
        ? [`${path} imports ${specifier}`]
        : [],
    ),
  );
  assert.deepEqual(wrong, []);
});

test("only the command line writes to the console or the process's streams", () => {
  const mains = ["src/host/main/host-process.ts", "src/host/main/host-thread.ts"]; // which end themselves
  const others = code(src.filter(({ path }) => part(path) !== "cli" && !mains.includes(path)));
  assert.deepEqual(linesMatching(others, /\bconsole\.|\bprocess\.(stdout|stderr|exit)\b/), []);
});

test("nothing is left for later, switched off or hushed up", () => {
  const house = own.filter(({ path }) => path !== "test/house/tidy.test.ts");
  assert.deepEqual(linesMatching(house, /\b(TODO|FIXME|XXX|HACK)\b/), []);
  assert.deepEqual(linesMatching(house, /\.(only|skip|todo)\(|\b(only|skip|todo): true/), []);
  assert.deepEqual(linesMatching(house, /@ts-ignore|@ts-nocheck|eslint-disable/), []);
  assert.deepEqual(linesMatching(code(house), /: any\b|<any>|\bas any\b/), []);
  const expectError = src.filter(({ text }) => text.includes("@ts-expect-error")).map(({ path }) => path);
  assert.deepEqual(expectError, []);
});

test("files stay short enough to be read at once", () => {
  const long = src.filter(({ text }) => text.split("\n").length > LINES_MAX).map(({ path }) => path);
  assert.deepEqual(long, []);
});

test("no pattern over codes decides anything: what follows from an error stands in the table of codes", () => {
  const others = code(src.filter(({ path }) => path !== "src/errors.ts"));
  assert.deepEqual(linesMatching(others, /\bHW-\d*(\(|\[|\\d(?!\{4\}))|startsWith\("HW-/), []);
});

test("no test sleeps: it waits for facts, by name", () => {
  const tests = own.filter(({ path }) =>
    /^test\/(?!(runner|fluxion)\/|waits\.ts|.*\/programs\/|house\/tidy)/.test(path),
  );
  assert.ok(tests.length > 100);
  const sleeping = /^import .*\bsetTimeout\b|await new Promise.*\bsetTimeout\b/;
  assert.deepEqual(linesMatching(code(tests), sleeping), []);
});

test("nothing names a path of somebody's machine", () => {
  const house = [...own, ...prose].filter(({ path }) => !/^test\/house\/tidy\.test\.ts$|\.png$/.test(path));
  assert.deepEqual(
    linesMatching(house, /(^|[\s"'`(=])\/(home|Users|root|work|tmp|var|opt|mnt)\/|\b[A-Z]:\\\\/),
    [],
  );
});

test("the check for comments keeps code and drops comments", () => {
  assert.equal(withoutComments("a(); // Date\n/* Date\n */ b();").replaceAll(" ", ""), "a();\n\nb();");
  assert.equal(withoutComments('fetch("http://x")'), 'fetch("http://x")');
});
