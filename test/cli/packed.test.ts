import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import packageFile from "../../package.json" with { type: "json" };
import createFile from "../../packages/create-headwater/package.json" with { type: "json" };
import { waitFor } from "../waits.js";
import { ROOT, write } from "./headwater.js";

/** What `npm publish` would send, installed in an empty folder as a user does it. */

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "headwater-packed-"));
const QUIET = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
/** Tests run npm; what npm tells its own scripts must not lead a second npm astray. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_TEST_CONTEXT$/.test(name)),
  ),
  npm_config_prefer_offline: "true",
  npm_config_cache: process.env.npm_config_cache,
};
const optional = Object.keys(packageFile.peerDependencies);
const INSTALLED_BYTES_MAX = 60 * 2 ** 20;

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As in a shell in that folder: what is in `node_modules/.bin` is found. */
async function shell(line: string, cwd = folder): Promise<Ended> {
  try {
    return { exitCode: 0, ...(await execute("sh", ["-c", line], { cwd, env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}

async function pack(source: string): Promise<string> {
  const words = ["pack", "--ignore-scripts", "--json", "--loglevel=error", "--pack-destination", folder];
  const { stdout } = await execute("npm", words, { cwd: source, env });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}

before(async () => {
  const packed = [await pack(ROOT), await pack(join(ROOT, "packages", "create-headwater"))];
  write(folder, {
    "package.json": '{ "private": true, "type": "module" }',
    "app.ts": `import { Context, type ProgramIo, type Service } from "headwater";
export default class App extends Context { count = 0; add() { return ++this.count; } }
export const main = async ({ root }: Service<App>, io: ProgramIo) => io.print(String(await root.add()));`,
    "queries.ts": 'export { Queries as default } from "headwater/queries";',
    "flow.yaml": "A: { annotation: { from: in, to: out, label: CR } }",
    "t.csv": "a,b\n1,2\n",
  });
  await execute("npm", ["install", ...QUIET, "--ignore-scripts", ...packed], { cwd: folder, env });
});

after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

describe("the packed package, installed in an empty folder", () => {
  test("brings nothing that a program of contexts does not need, and stays below a size", () => {
    assert.ok(existsSync(join(folder, "node_modules", "lmdb")));
    assert.deepEqual(
      optional.filter((name) => existsSync(join(folder, "node_modules", name))),
      [],
    );
    const files = readdirSync(join(folder, "node_modules"), { recursive: true, withFileTypes: true });
    const bytes = files
      .filter((each) => each.isFile())
      .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);
    assert.ok(bytes < INSTALLED_BYTES_MAX, `${bytes} bytes`);
  });

  test("runs a program in memory with one package besides, and loads the table of the journal only for a journal", async () => {
    const hooks = `import { appendFileSync } from "node:fs";
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  appendFileSync("loaded", found.url + "\\n");
  return found;
}`;
    write(folder, {
      "hooks.mjs": hooks,
      "plain.mjs": `import { createRequire, register } from "node:module";
import { readFileSync } from "node:fs";
register("./hooks.mjs", import.meta.url);
const { Context, run } = await import("headwater");
class App extends Context { count = 0; add() { return ++this.count; } }
const service = await run(App, process.argv[2] ? { journal: process.argv[2] } : {});
await service.root.add();
await service[Symbol.asyncDispose]();
const paths = [...readFileSync("loaded", "utf8").split("\\n"), ...Object.keys(createRequire(import.meta.url).cache)];
const names = paths.flatMap((path) => /.*node_modules[/](@[^/]+[/][^/]+|[^/]+)[/]/.exec(path)?.[1] ?? []);
console.log([...new Set(names)].join(" "));`,
    });
    const own = [...Object.keys(packageFile.dependencies), ...optional];
    const loaded = (said: string) => own.filter((name) => said.split(/\s/).includes(name));
    const plain = await shell("node plain.mjs");
    assert.deepEqual(loaded(plain.stdout), ["msgpackr"], plain.stderr);
    assert.deepEqual(loaded((await shell("node plain.mjs data")).stdout).toSorted(), ["lmdb", "msgpackr"]);
  });

  for (const [part, line] of [
    ["libpg-query", "headwater query 'SELECT a FROM t' --from t.csv"],
    ["libpg-query", "headwater serve --port 0 --journal streams"],
    ["libpg-query", "headwater run queries.ts"],
    ["libpg-query", "headwater sim --streams --seeds 1"],
    ["yaml", "headwater analyze flow.yaml"],
    ["oxc-parser", "headwater analyze app.ts"],
    ["oxc-parser", "headwater compile app.ts"],
    ["oxc-parser", "headwater run app.ts --fluxions"],
    ["@nats-io/", "headwater run app.ts --cluster nats://127.0.0.1:1/app"],
    ["@nats-io/", "headwater doctor --cluster nats://127.0.0.1:1/app"],
  ] as const) {
    test(`\`${line}\` says in one line what to install, and exits with 2`, async () => {
      const { exitCode, stdout, stderr } = await shell(`node_modules/.bin/${line}`);
      const [first = "", more = ""] = stderr.split("\n");
      assert.match(first, new RegExp(`HW-2005: ${part}\\S* is not installed.* npm install ${part}`), stderr);
      assert.match(more, /headwater explain HW-2005/);
      assert.deepEqual([exitCode, stdout], [2, ""]);
    });
  }

  test("has declarations that compile without the packages that are absent", async () => {
    const absent = ["./opentelemetry", "./react", "./fluxion"]; // they hand out what those packages make
    const doors = Object.keys(packageFile.exports).filter(
      (door) => !door.endsWith(".json") && !absent.includes(door),
    );
    const program = doors.map((door, i) => `export * as door${i} from "headwater${door.slice(1)}";\n`);
    const compilerOptions = {
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: [],
    };
    write(folder, {
      "types/doors.ts": program.join(""),
      "types/tsconfig.json": JSON.stringify({ compilerOptions, files: ["doors.ts"] }),
    });
    const { stdout } = await shell(`"${join(ROOT, "node_modules", ".bin", "tsc")}" -p types`);
    assert.equal(stdout, "");
  });
});

/** `npm start` until it serves, a look at what it serves, and Ctrl-C. */
async function started(project: string): Promise<void> {
  const child = spawn("npm", ["start"], {
    cwd: project,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const hear = (text: Buffer) => {
    said += text.toString();
  };
  child.stderr.on("data", hear);
  try {
    const address = new Promise<string>((resolve, reject) => {
      child.stdout.on("data", (text: Buffer) => look(text));
      child.stderr.on("data", (text: Buffer) => look(text));
      void ended.then(() => reject(new Error(`npm start ended: ${said}`)));
      const look = (_: Buffer) => {
        const [, found] = /dashboard +(http:\S+)/.exec(said) ?? [];
        if (found !== undefined && said.includes("ready in")) resolve(found);
      };
      child.stdout.prependListener("data", hear);
    });
    const url = await waitFor("for npm start to serve", address);
    const response = await fetch(url);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /<title>/);
  } finally {
    process.kill(-(child.pid ?? 0), "SIGINT");
    await waitFor("for npm start to end", ended);
  }
}

describe("a new project", () => {
  for (const template of ["chat", "game"]) {
    test(`of the template ${template} starts and passes its test where headwater is installed`, async () => {
      const { exitCode, stderr } = await shell(
        `npx --no-install headwater init '${template} app' --template ${template} --no-install`,
      );
      assert.equal(exitCode, 0, stderr);
      assert.match(stderr, new RegExp(`cd '${template} app' && npm install && npm start`));
      const project = join(folder, `${template} app`);
      await started(project);
      const tested = await shell("npm test --silent", project);
      assert.match(tested.stdout, /pass 1\b/, tested.stderr);
    });
  }

  test("of the template streams, made by create-headwater, installs itself, starts, passes its test and type-checks", async () => {
    const made = await shell("npx --no-install create-headwater my-app --template streams");
    assert.equal(made.exitCode, 0, made.stderr);
    const project = join(folder, "my-app");
    const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    assert.equal(dirname(dependencies.headwater.slice("file:".length)), folder);
    for (const name of ["headwater", "libpg-query", "re2js"])
      assert.ok(existsSync(join(project, "node_modules", name)), name);
    await started(project);
    const tested = await shell("npm test --silent && npm run types --silent", project);
    assert.match(tested.stdout, /pass 1\b/, tested.stderr);
    assert.equal(tested.exitCode, 0, tested.stdout);
  });

  test("whose installation fails is there, says how to go on, and exits with 1", async () => {
    writeFileSync(join(folder, "npm"), "#!/bin/sh\nexit 7\n", { mode: 0o755 });
    const words = "PATH=$PWD:$PATH node node_modules/headwater/dist/cli/main.js init failing --json";
    const { exitCode, stdout, stderr } = await shell(words);
    rmSync(join(folder, "npm"));
    assert.equal(exitCode, 1, stderr);
    assert.match(stderr, /npm install failed in .*failing: it ended with code 7/);
    assert.match(stderr, /Next: cd failing && npm install && npm start/);
    assert.equal(JSON.parse(stdout).isInstalled, false);
  });
});

test("create-headwater has the version of headwater, and asks for it", () => {
  assert.equal(createFile.version, packageFile.version);
  assert.equal(createFile.dependencies.headwater, `^${packageFile.version}`);
});
