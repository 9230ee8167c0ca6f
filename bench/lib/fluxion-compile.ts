import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, link } from "#src/fluxion/index.js";
import { compilesOnce } from "#src/fluxion/once.js";

const FILES = 20;
/** Of a file of routes: what stands around them, and two of them. */
const LINES_AROUND = 7;
const LINES_PER_PAIR = 19;

export interface CompileEffort {
  readonly lines: number;
  readonly rounds: number;
}

interface Compiled {
  readonly stages: number;
  readonly ms: number;
}

/**
 * How long it takes to compile and link an ordinary program of so many lines: the shortest of a few times, each in a
 * process of its own, as whoever compiles a program does it once. What others do on the machine meanwhile can only make it
 * longer; the median tells how much they did.
 */
export async function compileTime({
  lines,
  rounds: roundsMax,
}: CompileEffort): Promise<Compiled & { readonly lines: number; readonly medianMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"));
  try {
    let written = FILES + 2;
    for (let file = 0; file < FILES; file++) {
      const text = routes(file, Math.round((lines - written) / (FILES - file)));
      written += text.split("\n").length;
      writeFileSync(join(folder, `routes${file}.cjs`), text);
    }
    const names = Array.from({ length: FILES }, (_, file) => `require("./routes${file}.cjs")(app);`);
    const entry = join(folder, "app.cjs");
    writeFileSync(entry, `const app = require("express")();\n${names.join("\n")}\napp.listen(0);\n`);
    const rounds: Compiled[] = [];
    for (let round = 0; round < roundsMax; round++) {
      const child = fork(fileURLToPath(import.meta.url), [entry]);
      const failed = once(child, "exit").then(() => Promise.reject(new Error("compiling failed.")));
      const [compiled] = (await Promise.race([once(child, "message"), failed])) as [Compiled];
      rounds.push(compiled);
    }
    const inOrder = rounds.toSorted((a, b) => a.ms - b.ms);
    const [{ stages, ms }, middle] = [inOrder[0] as Compiled, inOrder[roundsMax >> 1] as Compiled];
    return { lines: written, stages, ms, medianMs: middle.ms };
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
  const pairs = Math.round((lines - LINES_AROUND) / LINES_PER_PAIR);
  for (let n = 0; n < pairs; n++) {
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

const [file, entry] = process.argv.slice(1);
if (process.send !== undefined && file === fileURLToPath(import.meta.url) && entry) {
  compilesOnce();
  const began = performance.now();
  const stages = link(compile(entry)).manifest.stages.length;
  const compiled: Compiled = { stages, ms: performance.now() - began };
  process.send(compiled, () => process.disconnect());
}
