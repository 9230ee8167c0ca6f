import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile, link } from "#src/fluxion/index.js";

const FILES = 20;
const LINES = 10_000;
const ROUNDS = 5;

/** How long it takes to compile and link an ordinary program of so many lines: the median of a few times. */
export function compileTime(lines = LINES): {
  readonly lines: number;
  readonly stages: number;
  readonly ms: number;
} {
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
  try {
    let written = 0;
    for (let file = 0; file < FILES; file++) {
      const text = routes(file, Math.ceil(lines / FILES));
      written += text.split("\n").length;
      writeFileSync(join(folder, `routes${file}.cjs`), text);
    }
    const names = Array.from({ length: FILES }, (_, file) => `require("./routes${file}.cjs")(app);`);
    const entry = join(folder, "app.cjs");
    writeFileSync(entry, `const app = require("express")();\n${names.join("\n")}\napp.listen(0);\n`);
    const times: number[] = [];
    let stages = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now();
      stages = link(compile(entry)).manifest.stages.length;
      times.push(performance.now() - began);
    }
    const ms = times.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
    return { lines: written, stages, ms };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A file of routes as people write them: some keep state, some are isolated, some await. */
function routes(file: number, lines: number): string {
  const text = [
    `const seen = new Map();`,
    `let count = 0;`,
    `module.exports = function routes${file}(app) {`,
  ];
  for (let n = 0; text.length < lines - 2; n++) {
    text.push(
      `  app.get("/${file}/${n}/:id", function show${n}(req, res) {`,
      `    const words = String(req.query.text).split(" ");`,
      `    let total = 0;`,
      `    for (const word of words) {`,
      `      if (word.length > ${n}) total += word.length;`,
      `      else total -= ${n} * word.charCodeAt(0);`,
      `    }`,
      `    res.json({ id: req.params.id, total, words: words.map((word) => word.toUpperCase()) });`,
      `  });`,
      `  app.post("/${file}/${n}", async function keep${n}(req, res, next) {`,
      `    try {`,
      `      count += 1;`,
      `      seen.set(req.body.id, { at: Date.now(), count, body: req.body });`,
      `      const made = await digest${file}(JSON.stringify(req.body));`,
      `      res.status(201).send(made);`,
      `    } catch (error) {`,
      `      next(error);`,
      `    }`,
      `  });`,
    );
  }
  text.push("};", `async function digest${file}(text) {`, `  return [...text].sort().join("");`, "}");
  return text.join("\n");
}
