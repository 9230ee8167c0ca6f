import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { packageWith, ROOT, runHere, write } from "../cli/headwater.js";

const execute = promisify(execFile);
const TSX = pathToFileURL(join(ROOT, "node_modules", "tsx", "dist", "loader.mjs")).href;
const RESULT = "3,0.75,b8\n";

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

/** What makes the program one that Node runs by itself. */
const ALONE = `
const { run } = await import("headwater");
const alone = await run(City);
await main(alone, { print: (line: string) => console.log(line) } as ProgramIo);
await alone[Symbol.asyncDispose]();
`;

/** What `tsc --init` of TypeScript 7 writes, besides what is tried here. */
const INIT = {
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  moduleDetection: "force",
  skipLibCheck: true,
  rootDir: ".",
  outDir: "out",
};

/** By name, the command of each compiler that users have. */
const COMPILERS = {
  "TypeScript 5.9": "typescript-5.9",
  "TypeScript 6": "typescript-6",
  "TypeScript 7": "typescript",
};
const TARGETS = ["es2022", "esnext"];
const MODULES = [
  { module: "nodenext" },
  // A bundler's settings; Node runs what they make as well, since the program imports packages only.
  { module: "esnext", moduleResolution: "bundler" },
];

/** Does Node itself read types away? From 22.18 on, it does. */
const STRIPS = process.features.typescript !== undefined && process.features.typescript !== false;

const SETTINGS = TARGETS.flatMap((target) =>
  [false, true].flatMap((experimentalDecorators) =>
    MODULES.map((modules) => ({ ...INIT, ...modules, target, experimentalDecorators })),
  ),
);

/** Compilers often write the same program, which is run once. */
const runs = new Map<string, ReturnType<typeof runHere>>();

function run(folder: string, file: string): ReturnType<typeof runHere> {
  const text = readFileSync(join(folder, file), "utf8");
  const known = runs.get(text) ?? runHere(folder, "run", file);
  runs.set(text, known);
  return known;
}

for (const [name, compiler] of Object.entries(COMPILERS)) {
  test(`programs with decorators compile with ${name} under every setting, and run or say what to set`, async (t) => {
    const folders = SETTINGS.map((_, i) => `p${i}`);
    const files = SETTINGS.flatMap((compilerOptions, i) => [
      [`p${i}/city.ts`, PROGRAM],
      [`p${i}/tsconfig.json`, JSON.stringify({ compilerOptions, files: ["city.ts"] })],
    ]);
    const folder = packageWith(t, Object.fromEntries(files));
    const tsc = join(ROOT, "node_modules", compiler, "bin", "tsc");
    const said = await execute(process.execPath, [tsc, "-b", ...folders], { cwd: folder }).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
    assert.equal(said, "");
    for (const [i, { target, experimentalDecorators, module }] of SETTINGS.entries()) {
      const what = JSON.stringify({ target, experimentalDecorators, module });
      const { exitCode, stdout, stderr } = await run(folder, `p${i}/out/city.js`);
      if (target === "esnext" && !experimentalDecorators) {
        assert.match(stderr, /HW-2002.*decorator.*"target": "es2022"` in tsconfig\.json/s, what);
        assert.equal(exitCode, 1, what);
      } else {
        assert.equal(stdout, RESULT, `${what}: ${stderr}`);
      }
    }
  });
}

describe("programs with decorators run as they are", () => {
  for (const target of TARGETS) {
    for (const experimentalDecorators of [false, true]) {
      const older = experimentalDecorators ? " and the older decorators" : "";
      test(`by headwater run and by tsx, with the target ${target}${older}`, async (t) => {
        const folder = packageWith(t, { "city.ts": PROGRAM, "alone.ts": `${PROGRAM}${ALONE}` });
        const compilerOptions = { ...INIT, module: "nodenext", target, experimentalDecorators };
        write(folder, { "tsconfig.json": JSON.stringify({ compilerOptions }) });
        const asItIs = await runHere(folder, "run", "city.ts");
        assert.equal(asItIs.stdout, RESULT, asItIs.stderr);
        const byTsx = await execute(process.execPath, ["--import", TSX, "alone.ts"], { cwd: folder });
        assert.equal(byTsx.stdout, RESULT);
      });
    }
  }

  test("without decorators also by a Node that reads types away, which reads no decorators", async (t) => {
    const marks = [
      "readonly(City.prototype.count)",
      "reads(City)(Street.prototype.crowd)",
      "readonly(Street.prototype.look)",
      "reads(City)(Street.prototype.look)",
    ];
    const plain = `${PROGRAM.replaceAll(/@(readonly|reads\(City\)) /g, "")}${marks.join(";\n")};${ALONE}`;
    assert.doesNotMatch(plain, /@/);
    const folder = packageWith(t, { "city.ts": plain });
    const loader = STRIPS ? [] : ["--import", TSX];
    const { stdout } = await execute(process.execPath, [...loader, "city.ts"], { cwd: folder });
    assert.equal(stdout, RESULT);
  });
});
