import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filesIn, ROOT } from "./source.js";

/** The rows of the tables of docs/promises.md whose second column is "kept by". */
function promisesIn(page: string): { promise: string; tests: string[] }[] {
  const tables = page.split(/\n\n+/).filter((part) => /^\| promise \| kept by \|/.test(part));
  return tables.flatMap((table) =>
    table
      .trim()
      .split("\n")
      .slice(2)
      .map((row) => {
        const [, promise = "", keptBy = ""] = row.split(/\s*(?<!\\)\|\s*/);
        return { promise, tests: [...keptBy.matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? "") };
      }),
  );
}

test("every promise of the docs is kept by a test that exists", () => {
  const promises = promisesIn(readFileSync(join(ROOT, "docs/promises.md"), "utf8"));
  assert.ok(promises.length > 20);
  const isTest = (path: string) => /^test\/.*\.test\.ts$/.test(path) && existsSync(join(ROOT, path));
  const unkept = promises.filter(({ tests }) => tests.length === 0 || !tests.every(isTest));
  assert.deepEqual(unkept, []);
});

test("a promise without a test, or with one that is gone, is found", () => {
  const page = "# Promises\n\n| promise | kept by |\n|---|---|\n| a | `test/gone.test.ts` |\n| b | hope |\n";
  assert.deepEqual(promisesIn(page), [
    { promise: "a", tests: ["test/gone.test.ts"] },
    { promise: "b", tests: [] },
  ]);
});

test("every page of the docs stands in their list", () => {
  const list = readFileSync(join(ROOT, "docs/README.md"), "utf8");
  const linked = new Set([...list.matchAll(/\]\(([^)#\s]+)\)/g)].map(([, target]) => `docs/${target}`));
  const pages = filesIn(["docs"], [".md"]).map(({ path }) => path);
  const missing = pages.filter(
    (path) => !linked.has(path) && path !== "docs/README.md" && !/^docs\/(errors|api)\//.test(path),
  );
  assert.deepEqual(missing, []);
});
