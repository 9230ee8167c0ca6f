import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import packageFile from "../../package.json" with { type: "json" };
import { packageWith, ROOT, write } from "../cli/headwater.js";

const execute = promisify(execFile);
const tsc = join(ROOT, "node_modules", ".bin", "tsc");

/** The declarations of a package that this door leads to do not compile with TypeScript 7 themselves. */
const FOREIGN = ["./fluxion"];
const doors = Object.keys(packageFile.exports).filter(
  (door) => !door.endsWith(".json") && !FOREIGN.includes(door),
);

/** The compiler checks libraries here, and knows no types but those that declarations refer to themselves. */
const SETTINGS = { module: "nodenext", strict: true, noEmit: true, types: [], skipLibCheck: false };

describe("declarations compile in a project that lists no types", { concurrency: 2 }, () => {
  for (const [where, lib] of [
    ["with the types of browsers", undefined],
    ["without the types of browsers", ["esnext"]],
  ] as const) {
    for (const [what, these] of [
      ["the client alone", ["./client"]],
      ["all doors together", doors],
    ] as const) {
      test(`${what}, ${where}`, async (t) => {
        const names = these.map((door) => `headwater${door.slice(1)}`);
        const program = names.map((name, i) => `export * as door${i} from ${JSON.stringify(name)};\n`);
        const folder = packageWith(t, { "all.ts": program.join("") });
        const compilerOptions = { ...SETTINGS, target: "esnext", ...(lib === undefined ? {} : { lib }) };
        write(folder, { "tsconfig.json": JSON.stringify({ compilerOptions, files: ["all.ts"] }) });
        const said = await execute(tsc, ["-p", folder]).then(
          () => "",
          (error: { stdout: string }) => error.stdout,
        );
        assert.equal(said, "");
      });
    }
  }
});
