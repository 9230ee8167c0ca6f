import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type Entry, layout } from "./layout.js";
import { type Rendered, render } from "./markdown.js";

/**
 * The documentation as a web site. docs/README.md is its table of contents: each heading a group, each link a page. All that
 * a page links to in the repository becomes a page, too: Markdown as text, sources with colours, folders as lists.
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONTENTS = "docs/README.md";
const SOURCES = new Set([
  ".ts",
  ".tsx",
  ".js",
  ".cjs",
  ".mjs",
  ".json",
  ".yaml",
  ".sql",
  ".txt",
  ".html",
  ".css",
]);

interface Page {
  readonly path: string;
  readonly out: string;
  readonly rendered: Rendered;
}

export function buildSite(folder: string): { pages: number } {
  const pages = new Map<string, Page>();
  const files = new Set<string>();
  const waiting = ["README.md", CONTENTS];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (pages.has(path) || files.has(path)) continue;
    const found = path;
    const out = outOf(found);
    if (out === null) {
      files.add(found);
      continue;
    }
    const rendered = render(textOf(found), (target) => {
      const to = leadsTo(found, target);
      if (to === null) return target;
      waiting.push(to.path);
      return `${relative(out, outOf(to.path) ?? `files/${to.path}`)}${to.anchor}`;
    });
    pages.set(found, { path: found, out, rendered });
  }

  rmSync(folder, { recursive: true, force: true });
  const contents = contentsOf(textOf(CONTENTS), pages);
  const inOrder = contents.flatMap(({ entries }) => entries);
  for (const { out, rendered, path } of pages.values()) {
    const at = inOrder.findIndex((entry) => entry.out === out);
    const html = layout({
      ...rendered,
      out,
      root: relative(out, "index.html").replace(/index\.html$/, ""),
      contents,
      before: at > 0 ? inOrder[at - 1] : undefined,
      after: at >= 0 ? inOrder[at + 1] : undefined,
      isWide: !path.endsWith(".md"),
    });
    write(join(folder, out), html);
  }
  for (const file of files) cpSync(join(ROOT, file), join(folder, "files", file), { recursive: true });
  for (const asset of ["site.css", "search.js"])
    write(join(folder, asset), readFileSync(new URL(asset, import.meta.url), "utf8"));
  write(join(folder, "search.json"), JSON.stringify(searchable(pages)));
  return { pages: pages.size };
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Where a file or folder of the repository is on the site; null for what is copied as it is. */
function outOf(path: string): string | null {
  if (path === "README.md") return "index.html";
  if (path === CONTENTS) return "contents.html";
  const place = path.replace(/^docs\//, "");
  if (place.endsWith(".md")) return place.replace(/\.md$/, ".html");
  if (statSync(join(ROOT, path)).isDirectory()) return `${place}/index.html`;
  return SOURCES.has(extname(path)) ? `${place}.html` : null;
}

/** The Markdown of a page. */
function textOf(path: string): string {
  const file = join(ROOT, path);
  if (path.endsWith(".md")) return readFileSync(file, "utf8");
  if (!statSync(file).isDirectory())
    return `# ${path}\n\n\`\`\`\`${extname(path).slice(1)}\n${readFileSync(file, "utf8")}\`\`\`\`\n`;
  const names = readdirSync(file).filter((name) => !name.startsWith("."));
  const rows = names.map((name) => {
    const [, title] = name.endsWith(".md")
      ? (/^# (.+)$/m.exec(readFileSync(join(file, name), "utf8")) ?? [])
      : [];
    return `- [${title ?? name}](${name})`;
  });
  return `# ${path === "docs/errors" ? "Error codes" : path}\n\n${rows.join("\n")}\n`;
}

function leadsTo(from: string, target: string): { path: string; anchor: string } | null {
  if (/^[a-z]+:/.test(target)) return null;
  const [name = "", anchor] = target.split("#");
  const base = statSync(join(ROOT, from)).isDirectory() ? from : posix.dirname(from);
  const path = name === "" ? from : posix.join(base, decodeURI(name)).replace(/\/$/, "");
  if (!existsSync(join(ROOT, path))) throw new Error(`${from} links to ${target}, which does not exist`);
  return { path, anchor: anchor === undefined ? "" : `#${anchor}` };
}

function relative(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The headings and links of the table of contents. */
function contentsOf(text: string, pages: ReadonlyMap<string, Page>): Group[] {
  const groups: { title: string; entries: Entry[] }[] = [];
  for (const line of text.split("\n")) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    if (heading !== undefined) groups.push({ title: heading, entries: [] });
    if (!/^(?:-|\d+\.) /.test(line)) continue;
    for (const [, title = "", target = ""] of line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const page = pages.get(leadsTo(CONTENTS, target)?.path ?? "");
      if (page !== undefined)
        groups.at(-1)?.entries.push({ title: title.replaceAll("`", ""), out: page.out });
    }
  }
  return groups;
}

/** What the search looks through: a section a row. */
function searchable(pages: ReadonlyMap<string, Page>): unknown[] {
  return [...pages.values()]
    .filter(({ path }) => path.endsWith(".md") && path !== "CHANGELOG.md")
    .flatMap(({ out, rendered }) =>
      rendered.sections.map(({ id, text, words, level }) => [
        level === 1 ? out : `${out}#${id}`,
        text === rendered.title ? text : `${rendered.title} › ${text}`,
        words.slice(0, 1_500),
      ]),
    );
}
