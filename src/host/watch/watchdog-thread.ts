import { writeSync } from "node:fs";
import { type Debugger, Session, url } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";
import { HeadwaterError } from "../../errors.js";
import { type BlockedFor, RUNNING, type WatchedThread } from "./watched.js";

/** The thread that watches the one in which the program runs (`watchdog.ts`). */
const watched = (workerData as { headwaterWatched?: WatchedThread } | null)?.headwaterWatched;
const STDERR = 2;
/** JavaScript that runs stops for a debugger long before; other code does not at all. */
const PAUSE_MS_MAX = 10_000;
const FRAMES_SHOWN = 4;
const UNKNOWN = "Something that is no event's own code, or runs after an `await`,";

if (watched !== undefined) watch(watched);

function watch({ heartbeats, lookMs, reportMs, endMs }: WatchedThread): void {
  let last = Atomics.load(heartbeats, 0);
  let blocked: { by: string; readonly question: Question } | null = null;
  let silentMs = 0;
  const report = async () => {
    const ms = silentMs;
    const state = { by: UNKNOWN, question: new Question() };
    blocked = state;
    const answer = await state.question.answer;
    if (answer === null) return; // the thread has gone on, and hears of it
    const { by, at } = answer;
    state.by = by ?? UNKNOWN;
    say(
      "HW-6006",
      `${state.by} has kept the thread of the program from doing anything else for ${ms} ms${at}.`,
    );
  };
  setInterval(() => {
    const beat = Atomics.load(heartbeats, 0);
    if (beat === last) {
      silentMs += lookMs; // in looks, not by the clock: while this thread is held up as well, no thread is late
      if (silentMs >= reportMs && blocked === null) void report();
      else if (endMs !== null && silentMs >= endMs && url() === undefined)
        end(silentMs, blocked?.by ?? UNKNOWN);
      return;
    }
    if (blocked !== null) {
      blocked.question.withdraw(); // else the debugger would stop whatever the thread does next
      parentPort?.postMessage({ ms: silentMs, by: blocked.by } satisfies BlockedFor);
    }
    last = beat;
    blocked = null;
    silentMs = 0;
  }, lookMs);
}

/** The supervisor starts the process again. */
function end(ms: number, by: string): void {
  say(
    "HW-6034",
    `${by} has kept the thread of the program from doing anything else for ${ms} ms. The process is ended.`,
  );
  process.kill(process.pid, "SIGKILL");
}

/** At once: what goes through streams goes through the thread that is blocked. */
function say(code: "HW-6006" | "HW-6034", what: string): void {
  writeSync(STDERR, `${new HeadwaterError(code, what).message}\n`);
}

interface Blocking {
  /** The context and the method, if it is known. */
  readonly by: string | null;
  /** Where in the code, in words. */
  readonly at: string;
}

/**
 * Stops the watched thread for a moment, as a debugger does, and asks it what it is at. The thread is stopped only while the
 * session is connected, and that ends with the answer, when the thread has gone on, and after a time limit.
 */
class Question {
  /** Null if it was withdrawn. */
  readonly answer: Promise<Blocking | null>;
  readonly #session = new Session();
  #end: (answer: Blocking | null) => void = () => {};

  constructor() {
    this.answer = new Promise((resolve) => {
      const late = setTimeout(
        () => this.#end({ by: null, at: ", in code that is not JavaScript" }),
        PAUSE_MS_MAX,
      );
      this.#end = (answer) => {
        clearTimeout(late);
        this.#session.disconnect();
        resolve(answer);
      };
    });
    this.#session.connectToMainThread();
    this.#session.on("Debugger.paused", ({ params: { callFrames } }) => this.#ask(callFrames));
    this.#session.post("Debugger.enable");
    this.#session.post("Debugger.pause");
  }

  withdraw(): void {
    this.#end(null);
  }

  #ask(frames: readonly Debugger.CallFrame[]): void {
    // A frame of a file: inside of Node, names may mean something else.
    const frame = frames.find(({ url }) => url.startsWith("file:")) ?? frames[0];
    if (frame === undefined) return this.#end({ by: null, at: "" });
    const expression = `globalThis[Symbol.for(${JSON.stringify(RUNNING)})]?.() ?? null`;
    const question = { callFrameId: frame.callFrameId, expression, returnByValue: true };
    this.#session.post("Debugger.evaluateOnCallFrame", question, (_, answer) => {
      const by: unknown = (answer as Debugger.EvaluateOnCallFrameReturnType | undefined)?.result.value;
      this.#end({ by: typeof by === "string" ? by : null, at: placeOf(frames) });
    });
  }
}

/** The functions that run, the innermost first. */
function placeOf(frames: readonly Debugger.CallFrame[]): string {
  const names = frames.slice(0, FRAMES_SHOWN).map(({ functionName }) => functionName || "(anonymous)");
  return `, in ${names.join(", called by ")}`;
}
