import assert from "node:assert/strict";
import { test } from "node:test";
import { filesIn, type SourceFile } from "./source.js";

/** Words without a concrete subject. Say which part does what: "the head resends the batch", "a call that is not awaited". */
const VAGUE =
  /\b(whoever|nobody|somebody|those (that|who)|what is not|the one that)\b|\bthat one('s|[.,;:)]| (is|was|has|had|does|did|can|could|may|must|will|would|sees|comes|fails|starts)\b)/i;

/** Words that the glossary (docs/glossary.md) has replaced. */
const REPLACED = /\b(letGo|let go of|lets go of|wish(es)?|sent ahead)\b/i;

/** Lines that may keep such a word, by what they contain, and why. */
const KEPT: Readonly<Record<string, string>> = {
  'self.event.caller ?? "nobody"': "the name of a client in generated programs is part of their traces",
  'message: "nobody there"': "an error of generated programs is part of their traces",
  'accessor last = "nobody"': "an example's value",
};

function vagueLines(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, i) =>
        pattern.test(line) && !Object.keys(KEPT).some((kept) => line.includes(kept))
          ? [`${path}:${i + 1}: ${line.trim()}`]
          : [],
      ),
  );
}

const files = filesIn(["src", "docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"], [".ts", ".md"]);

test("sentences in code and docs have concrete subjects", () => {
  assert.deepEqual(vagueLines(files, VAGUE), []);
});

test("code and docs use the words of the glossary", () => {
  const own = files.filter(({ path }) => path !== "ARCHITECTURE.md");
  assert.deepEqual(vagueLines(own, REPLACED), []);
});

test("vague words are found, and whole words only", () => {
  const vague = ["nobody asks", "for those who wait", "until that one is over", "what is not there"];
  const plain = ["an event that one host runs", "that one change", "in somebodys"];
  const text = [...vague, ...plain].join("\n");
  assert.equal(vagueLines([{ path: "src/a.ts", text }], VAGUE).length, vague.length);
});
