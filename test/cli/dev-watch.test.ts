import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { watchFiles } from "#src/cli/dev-watch.js";
import fc from "../properties.js";
import { until } from "../waits.js";

/** The ways in which files of a program change: editors write a file or put another one in its place, and people move folders. */
const CHANGES: Readonly<Record<string, (file: string, text: string) => void>> = {
  "is written": (file, text) => writeFileSync(file, text),
  "is replaced": (file, text) => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  },
  "is deleted": (file) => rmSync(file, { force: true }),
  "comes with its folder": (file, text) => {
    const folder = dirname(file);
    if (!folder.includes("program")) return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
  },
};
const FILES = ["a.ts", "program/b.js", "program/deep/c.ts"];

test("whatever was done to a source file before, the next change of it is noticed", async () => {
  const step = fc.record({
    file: fc.constantFrom(...FILES),
    change: fc.constantFrom(...Object.keys(CHANGES)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 5 }), async (steps) => {
      const folder = mkdtempSync(join(tmpdir(), "headwater-"));
      for (const file of FILES) {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), "");
      }
      const told: string[] = [];
      const stop = watchFiles(folder, [join(folder, "ignored")], (file) => told.push(file));
      try {
        for (const [i, { file, change }] of steps.entries()) {
          const path = join(folder, file);
          mkdirSync(dirname(path), { recursive: true });
          CHANGES[change]?.(path, `${i}`);
          // Its last state is told of: a write of now, whatever came before.
          told.length = 0;
          writeFileSync(path, `now ${i}`);
          await until(() => told.includes(path), `until ${file} is told of after it ${change}`);
        }
      } finally {
        stop();
        rmSync(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 6 },
  );
});
