import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { filesIn, ROOT } from "./source.js";

/**
 * The pages beside the code: ARCHITECTURE.md, `README.md` in folders of `src`, and the first comment of doors. They name files and
 * types, and a name that leads nowhere is worse than none.
 */
interface Page {
  readonly path: string;
  readonly text: string;
}

const code = filesIn(["src", "test", "scripts", "bench"], [".ts"]);
const folders = new Set(code.map(({ path }) => dirname(path)).filter((folder) => folder.startsWith("src/")));
const readmes: Page[] = filesIn(["ARCHITECTURE.md", "CONTRIBUTING.md", "src"], [".md"]);
const doors: Page[] = code.flatMap(({ path, text }) => {
  const comment = /^src\/.*\/index\.ts$/.test(path) ? /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] : undefined;
  return comment === undefined ? [] : [{ path, text: comment }];
});
const pages = [...readmes, ...doors];

/** `word` in backticks; fenced blocks are code or pictures. */
function quoted({ text }: Page): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, word]) => word ?? "");
}

/** A path is written from the page's own folder or from the root. */
function leadsTo(path: string, page: string): boolean {
  return [dirname(page), "."].some((from) => existsSync(join(ROOT, from, path)));
}

function missingFiles(page: Page): string[] {
  const isPath = (word: string) => /^[\w.-]+(\/[\w.-]+)*(\.(ts|md)|\/)$/.test(word) && !word.startsWith(".");
  const isAnyFolders = (word: string) => word === "index.ts" || word === "README.md";
  return quoted(page).filter((word) => isPath(word) && !isAnyFolders(word) && !leadsTo(word, page.path));
}

test("every folder of src has a page or a door that says what lives there, or the page of the folder above names it", () => {
  const saysWhatLivesThere = (folder: string) => doors.some(({ path }) => path === `${folder}/index.ts`);
  const hasPage = (folder: string) => readmes.some(({ path }) => path === `${folder}/README.md`);
  const isNamedAbove = (folder: string) => {
    const above = dirname(folder);
    const names = (page: Page) => page.path.startsWith("src/") && dirname(page.path) !== folder;
    return pages.some(
      (page) =>
        names(page) &&
        above.startsWith(dirname(page.path)) &&
        quoted(page).some((word) => join(dirname(page.path), word).startsWith(`${folder}/`)),
    );
  };
  const silent = [...folders].filter(
    (folder) => !saysWhatLivesThere(folder) && !hasPage(folder) && !isNamedAbove(folder),
  );
  assert.deepEqual(silent.sort(), []);
});

test("every folder directly in src stands in the overview", () => {
  const overview = readmes.find(({ path }) => path === "ARCHITECTURE.md");
  assert.ok(overview);
  const named = new Set(quoted(overview));
  const tops = new Set([...folders].map((folder) => folder.split("/").slice(0, 2).join("/")));
  assert.deepEqual([...tops].filter((folder) => !named.has(folder)).sort(), []);
});

test("every file that a page names exists", () => {
  const wrong = pages.flatMap((page) => missingFiles(page).map((word) => `${page.path} names ${word}`));
  assert.deepEqual(wrong, []);
});

test("every type and class that a page names exists", () => {
  const words = new Set(code.flatMap(({ text }) => text.match(/\b[A-Z]\w*[a-z]\w*\b/g) ?? []));
  const wrong = pages.flatMap((page) =>
    quoted(page).flatMap((word) => {
      const [, name = ""] = /^([A-Z][a-z]\w*)(\.\w+)?$/.exec(word) ?? [];
      return name === "" || words.has(name) ? [] : [`${page.path} names ${word}`];
    }),
  );
  assert.deepEqual(wrong, []);
});

test("a page that names a file that is not there is found", () => {
  const page = { path: "src/core/README.md", text: "`core.ts` and `src/errors.ts`, `gone.ts`, `gone/`" };
  assert.deepEqual(missingFiles(page), ["gone.ts", "gone/"]);
});
