import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Driven, Driver, type Measurement } from "./driver.js";
import type { Case } from "./subject.js";

/** What a process that drives one case is asked, and what it answers. */
type Ask = { readonly drive: readonly [events: number, inFlight: number, work: number] } | "counted" | "stop";
type Answer = { readonly ok: unknown } | { readonly error: string };

/**
 * Drives a case in a process of its own: what one system teaches the compiler about code that they share (an encoder, say)
 * is no concern of the others. `module` exports the case in `cases`.
 */
export async function driveInProcess(module: string, { name }: Case): Promise<Driven> {
  const child = fork(fileURLToPath(import.meta.url), [module, name]);
  let asked = 0;
  await answerOf(child, null);
  return {
    get asked() {
      return asked;
    },
    interrupt: () => void child.kill(),
    async drive(events, inFlight, work) {
      asked += events;
      return (await answerOf(child, { drive: [events, inFlight, work] })) as Measurement;
    },
    counted: async () => (await answerOf(child, "counted")) as number,
    async stop() {
      try {
        if (child.exitCode === null && !child.killed) await answerOf(child, "stop");
      } finally {
        child.kill("SIGKILL"); // some leave threads behind
      }
    },
  };
}

function answerOf(child: ChildProcess, ask: Ask | null): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("interrupted."));
    child.once("exit", ended);
    child.once("message", (answer: Answer) => {
      child.off("exit", ended);
      if ("ok" in answer) resolve(answer.ok);
      else reject(new Error(answer.error));
    });
    if (ask !== null) child.send(ask);
  });
}

async function serve(module: string, name: string, answer: (answer: Answer) => void): Promise<void> {
  const { cases } = (await import(module)) as { cases: readonly Case[] };
  const own = cases.find((each) => each.name === name);
  if (own === undefined) throw new Error(`There is no case ${name} in ${module}.`);
  const driver = new Driver(await own.start(own.contexts), own.contexts);
  process.on("message", (ask: Ask) => {
    const done =
      ask === "counted" ? driver.counted() : ask === "stop" ? driver.stop() : driver.drive(...ask.drive);
    done.then(
      (ok) => answer({ ok: ok ?? null }),
      (error: unknown) => answer({ error: String(error) }),
    );
  });
  answer({ ok: null });
}

const [file, module, name] = process.argv.slice(1);
if (process.send !== undefined && file === fileURLToPath(import.meta.url) && module && name) {
  const answer = (message: Answer) => void process.send?.(message);
  // Not awaited: the module of the case imports this one.
  serve(module, name, answer).catch((error: unknown) => answer({ error: String(error) }));
}
