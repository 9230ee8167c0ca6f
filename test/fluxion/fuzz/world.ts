import { format } from "node:util";
import realExpress from "express";
import type { Linked } from "headwater/fluxion";
import type { Parcel } from "#src/fluxion/runtime/parcel.js";
import { ask, read } from "#src/fluxion/runtime/reading.js";
import { settingsOf } from "#src/fluxion/runtime/settings.js";
import { Stages, type StartWorkers } from "#src/fluxion/runtime/stages.js";
import { Events } from "./events.js";
import { type Asked, Exchange, type RequestListener } from "./exchange.js";
import { Loader } from "./loader.js";
import { ModuleLoader } from "./modules.js";
import type { Elsewhere } from "./threads.js";
import { WatchingThread } from "./watching.js";

/** What can be seen of a program. */
export interface Seen {
  readonly console: readonly string[];
  readonly answers: readonly string[];
  /** Errors that nobody caught, and how the process ended. */
  readonly ends: readonly string[];
  /** How many stages ran elsewhere. */
  readonly moved: number;
}

/** When what happens. */
export interface Timing {
  /** One request after the other, or any while others are under way. */
  readonly serial: boolean;
  /** Stages end when the schedule says so, as against before anything else happens. */
  readonly slow: boolean;
  readonly schedule: readonly number[];
}

export interface Running {
  readonly folder: string;
  readonly entry: string;
  readonly requests: readonly Asked[];
  /** The compiled program; without it, the program runs as it is. */
  readonly linked: Linked | null;
  readonly elsewhere: Elsewhere;
}

export const RUNTIME = "headwater-runtime";
/** More than any program that ends has. */
const EVENTS_MAX = 300;
/** What programs ask of themselves in the end: all the state that they have. */
const PROBE: Asked = { method: "GET", path: "/state", body: "", nth: 99 };

class Ended extends Error {}

/** One run of one program: its requests, files, timers and stages happen as a schedule says. */
export class World {
  readonly #running: Running;
  readonly #timing: Timing;
  readonly #events = new Events();
  readonly #console: string[] = [];
  readonly #ends: string[] = [];
  readonly #exchanges: Exchange[] = [];
  /** Stages that have ended elsewhere, of which nobody has heard. */
  readonly #ended: (() => void)[] = [];
  #underWay = 0;
  #moved = 0;
  #listener: RequestListener | null = null;
  readonly #watching: WatchingThread[] = [];
  #isDead = false;

  constructor(running: Running, timing: Timing) {
    this.#running = running;
    this.#timing = timing;
  }

  async run(): Promise<Seen> {
    const { folder, entry, linked } = this.#running;
    const texts = new Map([...(linked?.files ?? [])].map(([path, { code }]) => [path, code]));
    const modules = new Map<string, unknown>([
      ["fs", this.#events.fs],
      ["fs/promises", this.#events.fs.promises],
      ["express", this.#express()],
      ...(linked === null ? [] : [[RUNTIME, this.#stagesOf(linked)] as const]),
    ]);
    const globals = { ...this.#events.globals, console: this.#consoleOf(), process: this.#processOf() };
    const around = { modules, globals, texts };
    const loader = new Loader(folder, around);
    const ofModules = new ModuleLoader(folder, around);
    const stop = this.#watch();
    try {
      loader.begin();
      if (/\.js$/.test(entry)) await this.#during(() => loader.run(entry));
      else await this.#during(() => ofModules.run(entry).catch((error: unknown) => this.#uncaught(error)));
      await this.#happen();
      if (!this.#isDead) await this.#ask(PROBE);
      for (let i = 0; this.#ended.length > 0 && i < EVENTS_MAX; i++)
        await this.#during(() => this.#ended.shift()?.());
    } finally {
      this.#isDead = true;
      loader.end();
      ofModules.end();
      unpatch();
      stop();
      for (const each of this.#watching) await each.stop();
    }
    return {
      console: this.#console,
      answers: this.#exchanges
        .toSorted((a, b) => a.asked.nth - b.asked.nth)
        .map(({ written, isOver, isReset }) =>
          isReset ? "(reset)" : `${isOver ? "" : "(open) "}${written}`,
        ),
      ends: this.#ends,
      moved: this.#moved,
    };
  }

  async #happen(): Promise<void> {
    const { requests } = this.#running;
    const { serial, slow, schedule } = this.#timing;
    let asked = 0;
    for (let turn = 0; turn < EVENTS_MAX && !this.#isDead; turn++) {
      const choice = schedule[turn % schedule.length] ?? 0;
      const { size } = this.#events;
      const mayAsk = asked < requests.length && (!serial || size + this.#ended.length === 0);
      const request = mayAsk ? requests[asked] : undefined;
      if (size === 0 && this.#ended.length === 0 && request === undefined) return;
      const isStageNext =
        slow && this.#ended.length > 0 && (choice % 3 === 0 || (size === 0 && request === undefined));
      if (isStageNext) {
        const which = choice % this.#ended.length;
        await this.#during(() => this.#ended.splice(which, 1)[0]?.());
        continue;
      }
      // In a row, things happen in the order in which they were begun: nobody can tell when a stage ends.
      const which = serial ? 0 : choice % (size + (request === undefined ? 0 : 1));
      if (which < size) await this.#during(() => this.#events.happen(which));
      else if (request !== undefined) {
        asked += 1;
        await this.#ask(request);
      }
    }
  }

  async #ask(request: Asked): Promise<void> {
    await this.#during(() => {
      if (this.#listener === null) return;
      this.#exchanges.push(new Exchange(request, this.#listener));
    });
  }

  /** Does something, and waits until all that follows from it without another event is over. */
  async #during(act: () => unknown): Promise<void> {
    try {
      act();
    } catch (error) {
      this.#uncaught(error);
    }
    for (let quiet = 0, before = -1; quiet < 3; quiet++) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = this.#console.length + this.#ends.length + this.#moved + this.#underWay * 1000;
      if (now !== before || this.#underWay > 0) quiet = -1;
      before = now;
    }
  }

  #uncaught(error: unknown): void {
    if (error instanceof Ended || this.#isDead) return;
    this.#ends.push(`uncaught: ${error instanceof Error ? error.message : String(error)}`);
    this.#isDead = true;
  }

  /** What Node tells the process, and what Express writes to the console. */
  #watch(): () => void {
    const uncaught = (error: unknown) => this.#uncaught(error);
    const { error: writeError } = console;
    process.on("uncaughtException", uncaught);
    process.on("unhandledRejection", uncaught);
    console.error = (...args: unknown[]) => this.#log(`error ${format(...args).split("\n")[0]}`);
    return () => {
      console.error = writeError;
      process.off("uncaughtException", uncaught);
      process.off("unhandledRejection", uncaught);
    };
  }

  #log(line: string): void {
    if (!this.#isDead) this.#console.push(line);
  }

  #consoleOf(): object {
    const log = (...args: unknown[]) => this.#log(format(...args));
    return { log, info: log, warn: log, error: log, debug: log };
  }

  #processOf(): object {
    const exit = (code: number = process.exitCode === undefined ? 0 : Number(process.exitCode)) => {
      if (!this.#isDead) this.#ends.push(`exit ${code}`);
      this.#isDead = true;
      throw new Ended();
    };
    return Object.create(process, {
      exit: { value: exit },
      exitCode: { value: undefined, writable: true },
    }) as object;
  }

  /** Express itself; of the programs that it makes, the last one is asked. */
  #express(): object {
    const express = () => {
      const app = realExpress();
      this.#listener = app as unknown as RequestListener;
      return app;
    };
    return Object.assign(express, realExpress);
  }

  #stagesOf({ manifest }: Linked): object {
    const { elsewhere, folder } = this.#running;
    elsewhere.load({
      folder: `${folder}/workers`,
      stages: manifest.stages.map(({ id, worker, receivers }) => ({
        id,
        module: worker.replace(/ts$/, "js"),
        receivers,
      })),
    });
    const run = (id: string, parcel: Parcel) => this.#elsewhere(() => elsewhere.run(id, parcel));
    const start: StartWorkers = async (_, modules, watching) => {
      if (watching === null) return { isFull: false, run, stop: () => Promise.resolve() };
      this.#underWay += 1;
      try {
        const thread = await WatchingThread.start(`${folder}/workers`, modules, watching);
        this.#watching.push(thread);
        const stop = () => thread.stop();
        return { isFull: false, run: (id, parcel) => this.#elsewhere(() => thread.run(id, parcel)), stop };
      } finally {
        this.#underWay -= 1;
      }
    };
    // Some packages are called here before, and what they did is done again by their threads.
    const isEarly =
      manifest.stages.some(({ watched }) => watched !== undefined) &&
      (this.#timing.schedule[0] ?? 0) % 2 === 1;
    const settings = settingsOf({
      threads: 1,
      ...(isEarly ? { move: "auto", worthMs: 0 } : { move: "all" }),
    });
    const stages = new Stages(manifest, new URL("file:///"), settings, start);
    return {
      isMoved: (id: string) => stages.isMoved(id),
      stage: (call: Parameters<Stages["call"]>[0]) => stages.call(call),
      read,
      ask,
      post: (...given: Parameters<Stages["post"]>) => stages.post(...given),
    };
  }

  async #elsewhere(run: () => Promise<Parcel>): Promise<Parcel> {
    this.#underWay += 1;
    this.#moved += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
      if (this.#timing.slow) await new Promise<void>((resolve) => this.#ended.push(resolve));
    }
  }
}

/** Takes back what packages of generated programs add to the language, and what they leave behind for everybody. */
function unpatch(): void {
  for (const key of Object.keys(globalThis))
    if (key.startsWith("shared_")) Reflect.deleteProperty(globalThis, key);
  for (const key of Object.getOwnPropertyNames(String.prototype))
    if (key.startsWith("shout_")) Reflect.deleteProperty(String.prototype, key);
}
