import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { declarationsIn, type Exported } from "./declarations.js";

/**
 * The API reference: a page for each entry point of package.json, with the declarations that it exports and their comments. A name that
 * several entry points export stands in full on the first of their pages.
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const KINDS = { function: "Functions", class: "Classes", value: "Values", type: "Types" } as const;

/** The names of the pages, and their texts. */
export function apiPages(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    exports: Record<string, string | { readonly types: string }>;
  };
  const pages = new Map<string, string>();
  const rows: string[] = [];
  /** Where a declaration stands in full. */
  const homes = new Map<string, string>();
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    const name = entry === "." ? "headwater" : entry.slice(2).replaceAll("/", "-");
    const door = entry === "." ? "headwater" : `headwater${entry.slice(1)}`;
    const { about, exported } = declarationsIn(join(ROOT, target.types));
    pages.set(`${name}.md`, page(door, `${name}.md`, about, exported, homes));
    rows.push(`| [\`${door}\`](${name}.md) | ${exported.map((each) => `\`${each.name}\``).join(", ")} |`);
  }
  const head = "# API reference\n\nWhat each entry point of the package exports, from its declarations.\n\n";
  pages.set("README.md", `${head}| import from | exports |\n|---|---|\n${rows.join("\n")}\n`);
  return pages;
}

function page(
  door: string,
  file: string,
  about: string,
  exported: readonly Exported[],
  homes: Map<string, string>,
): string {
  const parts = [`# ${door}`, ...firstSentence(about)];
  for (const [kind, heading] of Object.entries(KINDS)) {
    const these = exported.filter((each) => each.kind === kind);
    if (these.length > 0) parts.push(`## ${heading}`);
    for (const { name, id, comment, code } of these) {
      const home = homes.get(id);
      parts.push(`### ${name}`);
      if (home !== undefined) {
        parts.push(`As in [${home.replace(/\.md$/, "")}](${home}#${name.toLowerCase()}).`);
        continue;
      }
      homes.set(id, file);
      if (comment !== "") parts.push(comment);
      parts.push(`\`\`\`ts fragment\n${code}\n\`\`\``);
    }
  }
  return `${parts.join("\n\n")}\n`;
}

/** The rest of a door's comment is for those who work on the package. */
function firstSentence(text: string): string[] {
  const [sentence] = /^[\s\S]+?\.(?=\s|$)/.exec(text) ?? [];
  return sentence === undefined ? [] : [sentence];
}
