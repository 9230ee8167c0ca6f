import assert from "node:assert/strict";
import { type Compilation, fluxionsOf, interpret, parse, print } from "headwater/fluxion";
import { EXPRESS } from "./compiling.js";

export const READ = "fs.promises.readFile";
const FILES: Readonly<Record<string, string>> = { a: "eins", b: "zwei", c: '{ "rows": [3, 4] }' };

/** What happens first, and what next: files by their names, in the order in which they are read. */
type Order = readonly string[];

/** Two requests to the handler that a program registers, while files come in a given order. */
async function seen(run: (globals: Record<string, unknown>) => void, order: Order): Promise<unknown[]> {
  const trace: unknown[] = [];
  const waiting = new Map<string, (() => unknown)[]>();
  const wait = (name: string, end: () => unknown) =>
    void waiting.set(name, [...(waiting.get(name) ?? []), end]);
  const asked = (name: string) =>
    new Promise<string>((resolve, reject) => {
      trace.push(`reads ${name}`);
      wait(name, () => (name in FILES ? resolve(FILES[name] ?? "") : reject(new Error(`no ${name}`))));
    });
  const promises = { readFile: asked, stat: async (name: string) => ({ size: (await asked(name)).length }) };
  const readFile = (name: string, then: (error: Error | null, text?: string) => void) => {
    trace.push(`reads ${name}`);
    wait(name, () => (name in FILES ? then(null, FILES[name]) : then(new Error(`no ${name}`))));
  };
  let handler: ((req: object, res: object) => unknown) | null = null;
  const app = { get: (_: string, given: typeof handler) => void (handler = given), listen: () => undefined };
  const fs = { readFile, promises };
  // What the library gives can be awaited, and is no promise.
  const store = {
    find: (name: string) => ({
      // biome-ignore lint/suspicious/noThenProperty: libraries have such.
      then: (go: (value: string) => void) => wait(name, () => go(`found ${name}`)),
    }),
  };
  run({
    require: (name: string) => ({ express: () => app, fs, "own-store": store })[name],
    log: (value: unknown) => trace.push(value),
  });
  assert.ok(handler !== null);
  for (const nth of [1, 2]) {
    const res = { write: (text: unknown) => trace.push(`${nth} writes ${text}`) };
    const shown = (handler as (req: object, res: object) => Promise<unknown>)(
      { params: { name: "a", nth } },
      res,
    );
    shown.then(
      (value) => trace.push([nth, "ends", value]),
      (error: Error) =>
        trace.push([
          nth,
          "fails",
          error.name,
          error.message.replace(/^.* is not iterable.*$/, "not iterable"),
        ]),
    );
    await quiet();
  }
  for (const name of order) {
    await quiet();
    waiting.get(name)?.shift()?.();
  }
  await quiet();
  return trace;
}

async function quiet(): Promise<void> {
  for (let i = 0; i < 8; i++) await new Promise((resolve) => setImmediate(resolve));
}

const ORDERS: readonly Order[] = [
  ["a", "b", "c", "missing", "a", "b", "c", "missing", "a", "b", "c", "a", "a"],
  ["c", "missing", "b", "a", "a", "a", "b", "b", "c", "c", "missing", "a", "a"],
  ["missing", "b", "b", "c", "a", "a", "b", "b", "missing", "a", "a", "a"],
  ["a", "b", "a", "c", "b", "c"],
  ["a"],
];

/** As printed and read back, the program does what it did, in whichever order files come. */
export async function behavesAlike(text: string, { pipeline }: Compilation): Promise<void> {
  const printed = parse(print(fluxionsOf(pipeline)));
  for (const order of ORDERS) {
    const plain = await seen((globals) => {
      new Function(...Object.keys(globals), text)(...Object.values(globals));
    }, order);
    assert.deepEqual(await seen((globals) => interpret(printed, { globals }), order), plain);
    const atOnce = (globals: Record<string, unknown>) =>
      interpret(printed, { globals, later: (deliver) => deliver() });
    assert.deepEqual(await seen(atOnce, order), plain);
  }
}

export const program = (body: string, before = "") =>
  `${EXPRESS}let hits = 0;\n${before}app.get("/", async function show(req, res) {\n${body}\n});\n`;

/** What each part says first, without main. */
export const parts = ({ pipeline }: Compilation) =>
  fluxionsOf(pipeline)
    .slice(1)
    .map(({ code }) => code.split("\n")[0]);

export const THREE = ["async function show(req, res) {", "async function show_2(", "async function show_3("];
