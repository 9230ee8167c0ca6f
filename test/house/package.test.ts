import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { before, describe, test } from "node:test";
import { ROOT } from "./source.js";

/** What `npm publish` would send. */
const shipped = new Set<string>();

before(() => {
  const list = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(list) as [{ files: { path: string }[] }];
  for (const { path } of files) shipped.add(path);
});

function isShipped(path: string): boolean {
  return shipped.has(path) || [...shipped].some((each) => each.startsWith(`${path.replace(/\/$/, "")}/`));
}

describe("the package as it is published", () => {
  test("has every file that its Markdown pages lead to", () => {
    const pages = [...shipped].filter((path) => path.endsWith(".md"));
    assert.ok(pages.includes("README.md"));
    const dead = pages.flatMap((page) =>
      [...readFileSync(join(ROOT, page), "utf8").matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => !isShipped(posix.join(posix.dirname(page), target)))
        .map((target) => `${page} -> ${target}`),
    );
    assert.deepEqual(dead, []);
  });

  test("has source maps that contain their sources", () => {
    const maps = [...shipped].filter((path) => path.endsWith(".map"));
    assert.ok(maps.length > 0);
    const empty = maps.filter((path) => {
      const { sources, sourcesContent = [] } = JSON.parse(readFileSync(join(ROOT, path), "utf8"));
      return sourcesContent.length !== sources.length || sourcesContent.includes(null);
    });
    assert.deepEqual(empty, []);
  });

  test("has every file that package.json names", () => {
    const { bin, exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const doors = Object.values(exports as Record<string, string | Record<string, string>>);
    const named = [...Object.values<string>(bin), ...doors.flatMap((door) => Object.values(door))];
    const paths = named.filter((path) => path.startsWith("./")).map((path) => posix.normalize(path));
    assert.ok(paths.length > 0);
    assert.deepEqual(
      paths.filter((path) => !shipped.has(path) || !existsSync(join(ROOT, path))),
      [],
    );
  });

  test("has no test and nothing of the machine that built it", () => {
    const odd = [...shipped].filter(
      (path) => /(^|\/)(test|node_modules|\.cache)\//.test(path) || path.endsWith(".log"),
    );
    assert.deepEqual(odd, []);
  });
});
