import type { Group } from "./build.js";
import type { Rendered } from "./markdown.js";

export interface Entry {
  readonly title: string;
  readonly out: string;
}

interface Parts extends Rendered {
  readonly out: string;
  /** The way from this page to the site's first one, such as `../`. */
  readonly root: string;
  readonly contents: readonly Group[];
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
  readonly isWide: boolean;
}

export function layout(parts: Parts): string {
  const { title, html, root, out, before, after, isWide } = parts;
  const name = title === "Headwater" ? title : `${title} · Headwater`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(name)}</title>
<link rel="stylesheet" href="${root}site.css">
<link rel="icon" href="data:,">
<script type="module" src="${root}search.js" data-root="${root}"></script>
</head>
<body${isWide ? ' class="wide"' : ""}>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="name" href="${root}index.html">Headwater</a>
<form role="search"><input type="search" placeholder="Search (press /)" aria-label="Search the documentation" autocomplete="off" aria-controls="found"></form>
<ol id="found" hidden></ol>
</header>
<div class="columns">
<nav aria-label="Pages"><details><summary>Pages</summary>${navigation(parts)}</details></nav>
<main id="content">
${html}
<footer>${before === undefined ? "<span></span>" : link(root, before, "←", "prev")}${after === undefined ? "" : link(root, after, "→", "next")}</footer>
</main>
${onThisPage(parts)}
</div>
</body>
</html>
`;

  function navigation({ contents }: Parts): string {
    const item = (entry: Entry) => {
      const current = entry.out === out ? ' aria-current="page"' : "";
      return `<li><a href="${root}${entry.out}"${current}>${escaped(entry.title)}</a></li>`;
    };
    return contents
      .map(({ title: group, entries }) => `<h2>${escaped(group)}</h2><ul>${entries.map(item).join("")}</ul>`)
      .join("");
  }
}

function link(root: string, { out, title }: Entry, arrow: string, rel: "prev" | "next"): string {
  const text = rel === "prev" ? `${arrow} ${escaped(title)}` : `${escaped(title)} ${arrow}`;
  return `<a rel="${rel}" href="${root}${out}">${text}</a>`;
}

function onThisPage({ sections }: Parts): string {
  const headings = sections.filter(({ level }) => level === 2);
  if (headings.length < 2) return "";
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`);
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></aside>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
