/** The search of the documentation: sections that have all words, best first. `/` begins, arrows choose, Escape ends. */

const root = document.querySelector("script[data-root]")?.dataset.root ?? "";
const input = document.querySelector("input[type=search]");
const found = document.querySelector("#found");
let rows = null;

async function load() {
  rows ??= fetch(`${root}search.json`).then((response) => response.json());
  return await rows;
}

/** How well a section answers; 0 if a word is missing. */
function score([out, title, text], words) {
  let sum = out.startsWith("errors/") || out.startsWith("api/") ? -4 : 0; // guides come first
  for (const word of words) {
    const inTitle = title.toLowerCase().includes(word);
    if (!inTitle && !text.toLowerCase().includes(word)) return 0;
    sum += inTitle ? 10 - Math.min(5, title.split("›").length) : 1;
  }
  return Math.max(sum, 0.5);
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return hide();
  const hits = (await load())
    .map((row) => ({ row, points: score(row, words) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, 12);
  found.replaceChildren(
    ...hits.map(({ row: [out, title, text] }) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const small = document.createElement("small");
      link.href = root + out;
      link.textContent = title;
      small.textContent = excerpt(text, words[0]);
      link.append(small);
      item.append(link);
      return item;
    }),
  );
  if (hits.length === 0) found.textContent = "Nothing has all of these words.";
  found.hidden = false;
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 120)}`;
}

function hide() {
  found.hidden = true;
}

function focused(step) {
  const links = [...found.querySelectorAll("a")];
  const next = links.indexOf(document.activeElement) + step;
  if (next < 0) input.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
}

input.addEventListener("input", search);
input.form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await search();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape") {
    hide();
    input.blur();
  } else if (!found.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    focused(event.key === "ArrowDown" ? 1 : -1);
  }
});
document.addEventListener("click", ({ target }) => {
  if (!target.closest("header")) hide();
});

// On a narrow screen the list of pages is closed.
const details = document.querySelector("nav details");
if (matchMedia("(min-width: 60rem)").matches) details.open = true;
details.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
