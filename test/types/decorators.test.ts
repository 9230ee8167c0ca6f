import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { packageWith, ROOT, runHere, write } from "../cli/headwater.js";

const execute = promisify(execFile);

const PROGRAM = `
import { Context, type ProgramIo, readonly, reads, type Service } from "headwater";

export default class City extends Context {
  people = 3;
  streets = this.children(Street);

  @readonly count() {
    return this.people;
  }
}

class Street extends Context<string> {
  houses = 4;

  @reads(City) crowd() {
    return this.event.read(City).people / this.houses;
  }

  @readonly @reads(City) async look(from: string, times?: number): Promise<string> {
    return from + this.houses * (times ?? 1);
  }
}

export async function main({ root }: Service<City>, io: ProgramIo) {
  io.print([await root.count(), await root.streets("a").crowd(), await root.streets("a").look("b", 2)].join());
}
`;

/** What \`tsc --init\` of TypeScript 7 writes, besides the target. */
const INIT = {
  module: "nodenext",
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noUncheckedSideEffectImports: true,
  moduleDetection: "force",
  skipLibCheck: true,
};

describe("programs with decorators compile and run under every setting of the compiler", {
  concurrency: 2,
}, () => {
  for (const target of ["es2022", "es2024", "esnext"]) {
    for (const experimentalDecorators of [false, true]) {
      const settings = { ...INIT, target, experimentalDecorators, rootDir: ".", outDir: "out" };
      const older = experimentalDecorators ? ", with TypeScript's older decorators" : "";

      test(`target ${target}${older}`, async (t) => {
        const folder = packageWith(t, { "city.ts": PROGRAM });
        write(folder, { "tsconfig.json": JSON.stringify({ compilerOptions: settings }) });
        const tsc = join(ROOT, "node_modules", ".bin", "tsc");
        const said = await execute(tsc, ["-p", folder]).then(
          () => "",
          (error: { stdout: string }) => error.stdout,
        );
        assert.equal(said, "");
        const asItIs = await runHere(folder, "run", "city.ts");
        assert.equal(asItIs.stdout, "3,0.75,b8\n", asItIs.stderr);
        const compiled = await runHere(folder, "run", "out/city.js");
        if (target === "esnext" && !experimentalDecorators) {
          assert.match(compiled.stderr, /HW-2002.*decorator.*"target": "es2022"` in tsconfig\.json/s);
          assert.equal(compiled.exitCode, 1);
        } else {
          assert.equal(compiled.stdout, "3,0.75,b8\n", compiled.stderr);
        }
      });
    }
  }
});
