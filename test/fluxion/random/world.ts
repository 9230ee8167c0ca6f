import assert from "node:assert/strict";
import type { Compilation } from "headwater/fluxion";
import { fluxionsOf, interpret, link, parse, print } from "headwater/fluxion";
import { decode, encode } from "#src/fluxion/runtime/codec.js";
import { ask, read } from "#src/fluxion/runtime/reading.js";
import { Recording, replay } from "#src/fluxion/runtime/recorder.js";

type Callback = (error: Error | null, data?: string) => unknown;
type Handler = (req: object, res: object) => unknown;
interface Call {
  readonly id: string;
  readonly inputs: readonly unknown[];
  readonly receivers: readonly unknown[];
  readonly local: (inputs: readonly unknown[]) => unknown;
}

/** What comes next: a request, a file that has been read, or a stage that has ended. */
export type Schedule = readonly number[];

const RUNTIME = "the runtime";
const REQUESTS = 3;
/** A file that cannot be read. */
const LOST = "lost";

/**
 * A program among requests and files that a schedule lets happen, one after the other. Stages run apart from the
 * program, with the runtime's own copies and records; `slowly`, they end when the schedule says so.
 */
class World {
  readonly trace: string[] = [];
  /** How the promises end that the program's functions give, in their order. */
  readonly ends: string[] = [];
  moved = 0;
  /** Messages that are on their way. */
  waiting = 0;
  #handler: Handler | null = null;
  readonly #files: (() => unknown)[] = [];
  readonly #ended: (() => void)[] = [];

  constructor(readonly slowly: boolean) {}

  load(text: string, runtime: object): void {
    new Function("require", text)(this.require(runtime));
  }

  require(runtime: object): (name: string) => unknown {
    const app = { get: (_: string, handler: Handler) => void (this.#handler = handler) };
    const promises = {
      readFile: (name: string) =>
        new Promise<string>((resolve, reject) => {
          this.#files.push(() => (name === LOST ? reject(new Error(LOST)) : resolve("data")));
        }),
    };
    const readFile = (name: string, then: Callback) =>
      void this.#files.push(() => (name === LOST ? then(new Error(LOST)) : then(null, "data")));
    const fs = { readFile, promises };
    return (name: string) => ({ express: () => app, fs, [RUNTIME]: runtime })[name];
  }

  runtime(
    stages: Record<string, (inputs: unknown, receivers: readonly unknown[]) => unknown>,
    kinds: ReadonlyMap<string, ConstructorParameters<typeof Recording>[0]>,
  ) {
    return {
      isMoved: () => true,
      read,
      ask,
      stage: async ({ id, inputs, receivers }: Call) => {
        const sent = encode(inputs);
        this.moved += 1;
        if (this.slowly) await new Promise<void>((resolve) => this.#ended.push(resolve));
        const recording = new Recording(kinds.get(id) ?? []);
        const result = await stages[id]?.(decode(sent), recording.receivers);
        recording.end();
        assert.equal(recording.refusal, null);
        replay(recording.effects, receivers);
        return decode(encode(result));
      },
    };
  }

  async run(schedule: Schedule): Promise<void> {
    let asked = 0;
    const next = [...schedule];
    const ends = schedule.toReversed();
    const isOver = () => asked === REQUESTS && this.#files.length === 0 && this.#ended.length === 0;
    for (let turn = 0; !isOver(); turn++) {
      // Stages have a schedule of their own, so that both programs see all else in the same order.
      if (this.#ended.length > 0 && (turn % 2 === 1 || (asked === REQUESTS && this.#files.length === 0))) {
        this.#ended.splice((ends.shift() ?? 0) % this.#ended.length, 1)[0]?.();
      } else {
        const at = (next.shift() ?? 0) % (this.#files.length + (asked < REQUESTS ? 1 : 0) || 1);
        const file = this.#files[at];
        if (file !== undefined) {
          this.#files.splice(at, 1);
          this.#ends("file", file());
        } else if (asked < REQUESTS) {
          this.#ask(asked++);
        }
      }
      do await settled();
      while (this.waiting > 0);
    }
  }

  /** What becomes of a promise that a function of the program has returned; of callbacks, only that they fail. */
  #ends(what: string, result: unknown): void {
    if (!(result instanceof Promise)) return;
    result.then(
      (value) => what === "file" || this.ends.push(`${what} ends: ${value}`),
      (error) => this.ends.push(`${what} fails: ${(error as Error).message}`),
    );
  }

  #ask(nth: number): void {
    const res = { write: (text: string) => void this.trace.push(`${nth}: ${text}`) };
    this.#ends(`${nth}`, this.#handler?.({ query: { n: String(nth) } }, res));
  }
}

/** Until nothing happens any more that needs no event. */
async function settled(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve));
}

export async function plainTrace(text: string, schedule: Schedule): Promise<readonly string[]> {
  return (await plainRun(text, schedule)).trace;
}

export async function compiledTrace(
  compilation: Compilation,
  schedule: Schedule,
  slowly: boolean,
): Promise<{ trace: string[]; moved: number }> {
  const { files, workers, manifest } = link(compilation, { runtime: RUNTIME, trivial: true });
  const [code] = files.values();
  const [worker] = workers.values();
  const world = new World(slowly);
  const exports: { stages?: Parameters<World["runtime"]>[0] } = {};
  if (worker !== undefined) new Function("exports", "require", worker.code)(exports, () => undefined);
  const kinds = new Map(manifest.stages.map(({ id, receivers }) => [id, receivers]));
  const original = [...compilation.program.modules.values()][0]?.text ?? "";
  world.load(code?.code ?? original, world.runtime(exports.stages ?? {}, kinds));
  await world.run(schedule);
  return { trace: world.trace, moved: world.moved };
}

export interface Run {
  readonly trace: readonly string[];
  readonly ends: readonly string[];
}

/** With how the promises of its handlers and callbacks end. */
export async function plainRun(text: string, schedule: Schedule): Promise<Run> {
  const world = new World(false);
  world.load(text, {});
  await world.run(schedule);
  return world;
}

/** The program as it is printed, read back, and run by the interpreter; messages arrive at once, or in the next turn. */
export async function interpretedRun(
  { pipeline }: Compilation,
  schedule: Schedule,
  atOnce: boolean,
): Promise<Run> {
  const world = new World(false);
  const later = (deliver: () => void) => {
    if (atOnce) return deliver();
    world.waiting += 1;
    setImmediate(() => {
      world.waiting -= 1;
      deliver();
    });
  };
  interpret(parse(print(fluxionsOf(pipeline))), { globals: { require: world.require({}) }, later });
  await world.run(schedule);
  return world;
}
