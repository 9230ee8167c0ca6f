import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import MarkdownIt from "markdown-it";

/** Markdown to HTML, with the headings' ids that GitHub gives them, so that links hold in both places. */

for (const [name, language] of Object.entries({ bash, json, sql, typescript, xml, yaml }))
  hljs.registerLanguage(name, language);
const LANGUAGES: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript",
  js: "typescript",
  sh: "bash",
  html: "xml",
  json: "json",
  sql: "sql",
  yaml: "yaml",
};

interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

interface Section extends Heading {
  /** The words that stand below the heading, for the search. */
  readonly words: string;
}

export interface Rendered {
  readonly html: string;
  readonly title: string;
  readonly sections: readonly Section[];
}

function highlighted(code: string, language: string): string {
  const known = LANGUAGES[language];
  return known === undefined
    ? markdown.utils.escapeHtml(code)
    : hljs.highlight(code, { language: known }).value;
}

const markdown = new MarkdownIt({ html: false, linkify: false });

/** As GitHub makes them: lower case, without punctuation, spaces as hyphens. */
function idOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** `linked` says where a link of the page leads on the site. */
export function render(text: string, linked: (target: string) => string): Rendered {
  const tokens = markdown.parse(text, {});
  const sections: { level: number; id: string; text: string; words: string[] }[] = [];
  const ids = new Map<string, number>();
  const html: string[] = [];
  for (const [i, token] of tokens.entries()) {
    for (const child of token.children ?? []) {
      const name = child.type === "image" ? "src" : "href";
      const target = child.attrGet(name);
      if (target !== null) child.attrSet(name, linked(String(target)));
    }
    if (token.type === "heading_open") {
      const content = plain(tokens[i + 1]?.children ?? []);
      const first = idOf(content);
      const times = ids.get(first) ?? 0;
      ids.set(first, times + 1);
      const id = times === 0 ? first : `${first}-${times}`;
      token.attrSet("id", id);
      sections.push({ level: Number(token.tag.slice(1)), id, text: content, words: [] });
    } else if (token.type === "inline" && tokens[i - 1]?.type !== "heading_open") {
      sections.at(-1)?.words.push(plain(token.children ?? []));
    }
  }
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === undefined) continue;
    html.push(
      token.type === "fence"
        ? block(token.content, token.info.split(" ")[0] ?? "")
        : markdown.renderer.render([token], markdown.options, {}),
    );
  }
  return {
    html: html
      .join("")
      .replaceAll(/<table>/g, '<div class="table"><table>')
      .replaceAll("</table>", "</table></div>"),
    title: sections[0]?.text ?? "Headwater",
    sections: sections.map(({ words, ...heading }) => ({ ...heading, words: words.join(" ") })),
  };
}

function block(code: string, language: string): string {
  const label = language === "text" ? ' aria-label="Output"' : "";
  return `<pre tabindex="0"${label} class="${language === "text" ? "output" : "code"}"><code>${highlighted(code, language)}</code></pre>\n`;
}

function plain(children: readonly { readonly type: string; readonly content: string }[]): string {
  return children
    .map(({ type, content }) =>
      type === "softbreak" ? " " : type === "text" || type === "code_inline" ? content : "",
    )
    .join("");
}
