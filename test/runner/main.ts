import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type FileResult, FileRun } from "./file-run.js";

/**
 * `npm test`, and `npm test -- core rules/downgrade`: runs test files, each in a process of its own, some at a time. Nothing here
 * depends on how long anything takes, and whatever a file starts ends with it.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TEST = fileURLToPath(new URL("..", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: "string", default: "3" }, verbose: { type: "boolean", default: false } },
});

/** The longest first, or the last one would run alone. */
const FIRST = ["sim", "store", "bench", "fleet", "fluxion", "house"];

/** How many of the files that take most processor time are named at the end. */
const DEAREST = 5;

function testFiles(): string[] {
  const folders = readdirSync(TEST, { withFileTypes: true }).filter((each) => each.isDirectory());
  const names = folders.map(({ name }) => name).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const files = names.flatMap((name) =>
    readdirSync(join(TEST, name))
      .filter((file) => file.endsWith(".test.ts"))
      .map((file) => relative(ROOT, join(TEST, name, file))),
  );
  if (positionals.length === 0) return files;
  return files.filter((file) => positionals.some((wanted) => file.includes(wanted)));
}

function rank(folder: string): number {
  const index = FIRST.indexOf(folder);
  return index === -1 ? FIRST.length : index;
}

const files = testFiles();
if (files.length === 0) {
  console.error(`no test file has ${positionals.join(" or ")} in its path`);
  process.exit(2);
}

const began = performance.now();
const results: FileResult[] = [];
const underWay = new Set<FileRun>();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    for (const run of underWay) run.end();
    process.exit(130);
  });
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

function tell({ file, passed, failures, printed, ms, cpuMs }: FileResult): void {
  const count = `${String(results.length).padStart(String(files.length).length)}/${files.length}`;
  const sign = failures.length === 0 ? "✔" : "✖";
  console.log(
    `${sign} ${count} ${file}: ${passed} passed${failures.length === 0 ? "" : `, ${failures.length} failed`} (${seconds(ms)}, processor ${seconds(cpuMs)})`,
  );
  for (const failure of failures) console.log(`\n  ✖ ${failure.replaceAll("\n", "\n    ")}\n`);
  if ((failures.length > 0 || values.verbose) && printed !== "") console.log(`  it printed:\n${printed}`);
}

const waiting = [...files];
async function work(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const run = new FileRun(file);
    underWay.add(run);
    const result = await run.run();
    underWay.delete(run);
    results.push(result);
    tell(result);
  }
}

await Promise.all(Array.from({ length: Number(values.concurrency) }, work));

const failed = results.filter(({ failures }) => failures.length > 0);
const passed = results.reduce((sum, each) => sum + each.passed, 0);
console.log(
  `\n${passed} tests passed in ${results.length} files, ${Math.round((performance.now() - began) / 1000)} s`,
);
const cpuMs = results.reduce((sum, each) => sum + each.cpuMs, 0);
const dearest = results.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, DEAREST);
console.log(
  `processor time ${seconds(cpuMs)}, most in ${dearest.map((each) => `${each.file} ${seconds(each.cpuMs)}`).join(", ")}`,
);
for (const { file, failures } of failed)
  console.log(`✖ ${file}: ${failures.map((each) => each.split("\n")[0]).join("; ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
