import { writeSync } from "node:fs";
import { type Debugger, Session, url } from "node:inspector";
import { parentPort, workerData } from "node:worker_threads";
import { HeadwaterError } from "../../errors.js";
import { type BlockedFor, RUNNING, type Watched } from "./watched.js";

/** The thread that watches the one in which the program runs (`watchdog.ts`). */
const watched = (workerData as { headwaterWatched?: Watched } | null)?.headwaterWatched;
const STDERR = 2;
/** JavaScript that runs stops for a debugger long before; other code does not at all. */
const PAUSE_MS_MAX = 10_000;
const FRAMES_SHOWN = 4;
const UNKNOWN = "Something that is no event's own code, or runs after an `await`,";

if (watched !== undefined) watch(watched);

function watch({ heartbeats, lookMs, reportMs, endMs }: Watched): void {
  let last = Atomics.load(heartbeats, 0);
  let blocked: { by: string } | null = null;
  let silentMs = 0;
  const report = async () => {
    const ms = silentMs;
    const state = { by: UNKNOWN };
    blocked = state;
    const { by, at } = await whatBlocks();
    state.by = by ?? UNKNOWN;
    say(
      "HW-6006",
      `${state.by} has kept the thread of the program from doing anything else for ${ms} ms${at}.`,
    );
  };
  setInterval(() => {
    const beat = Atomics.load(heartbeats, 0);
    if (beat === last) {
      silentMs += lookMs; // in looks, not by the clock: while this thread is held up as well, nobody is late
      if (silentMs >= reportMs && blocked === null) void report();
      else if (endMs !== null && silentMs >= endMs && url() === undefined)
        end(silentMs, blocked?.by ?? UNKNOWN);
      return;
    }
    if (blocked !== null) parentPort?.postMessage({ ms: silentMs, by: blocked.by } satisfies BlockedFor);
    last = beat;
    blocked = null;
    silentMs = 0;
  }, lookMs);
}

/** Whoever started the process starts it again. */
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

/** Stops the watched thread for a moment, as a debugger does, and asks it what it is at. */
function whatBlocks(): Promise<Blocking> {
  return new Promise((resolve) => {
    const session = new Session();
    const done = (blocking: Blocking) => {
      clearTimeout(late);
      session.disconnect();
      resolve(blocking);
    };
    const late = setTimeout(() => done({ by: null, at: ", in code that is not JavaScript" }), PAUSE_MS_MAX);
    session.connectToMainThread();
    session.on("Debugger.paused", ({ params: { callFrames } }) => {
      // A frame of a file: inside of Node, names may mean something else.
      const frame = callFrames.find(({ url }) => url.startsWith("file:")) ?? callFrames[0];
      if (frame === undefined) return done({ by: null, at: "" });
      const expression = `globalThis[Symbol.for(${JSON.stringify(RUNNING)})]?.() ?? null`;
      const question = { callFrameId: frame.callFrameId, expression, returnByValue: true };
      session.post("Debugger.evaluateOnCallFrame", question, (_, answer) => {
        const by: unknown = (answer as Debugger.EvaluateOnCallFrameReturnType | undefined)?.result.value;
        done({ by: typeof by === "string" ? by : null, at: placeOf(callFrames) });
      });
    });
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  });
}

/** The functions that run, the innermost first. */
function placeOf(frames: readonly Debugger.CallFrame[]): string {
  const names = frames.slice(0, FRAMES_SHOWN).map(({ functionName }) => functionName || "(anonymous)");
  return `, in ${names.join(", called by ")}`;
}
