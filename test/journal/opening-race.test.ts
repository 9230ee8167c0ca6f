import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { FromRacer, ToRacer } from "./programs/racer.js";
import { allOf, newDirectory, openIn } from "./support.js";

const program = fileURLToPath(new URL("./programs/racer.ts", import.meta.url));
const RACERS = 4;
const ROUNDS = 12;

/** The next thing that a process says. */
function next(racer: ChildProcess): Promise<FromRacer> {
  return new Promise((resolve, reject) => {
    racer.once("message", (message) => resolve(message as FromRacer));
    racer.once("exit", () => reject(new Error("a process ended without a word")));
  });
}

async function startRacers(t: TestContext): Promise<ChildProcess[]> {
  const racers = Array.from({ length: RACERS }, () => fork(program, { execArgv: ["--import", "tsx"] }));
  t.after(() => {
    for (const racer of racers) racer.kill("SIGKILL");
  });
  await Promise.all(racers.map(next));
  return racers;
}

/** All of them open a journal at once. The one that has it closes it when all have spoken; its pid is returned. */
async function race(racers: readonly ChildProcess[], directory: string, about: string): Promise<string> {
  const said = racers.map(next);
  for (const racer of racers) racer.send({ kind: "open", directory } satisfies ToRacer);
  const results = await Promise.all(said);
  const winners = racers.filter((_, i) => results[i]?.kind === "opened");
  const text = `${about}: ${JSON.stringify(results)}`;
  assert.equal(winners.length, 1, text);
  for (const each of results) assert.ok(each.kind !== "refused" || each.code === "HW-3024", text);
  const [winner] = winners as [ChildProcess];
  const closed = next(winner);
  winner.send({ kind: "close" } satisfies ToRacer);
  assert.equal((await closed).kind, "closed");
  return String(winner.pid);
}

test("of processes that open one journal at once, one has it and the others are refused, whether it is new or not", async (t) => {
  const racers = await startRacers(t);
  for (let round = 0; round < ROUNDS; round++) {
    const directory = newDirectory(t);
    const pids = new Set<string>();
    pids.add(await race(racers, directory, `new journal ${round}`));
    pids.add(await race(racers, directory, `journal ${round} again`));
    const journal = await openIn(t, directory);
    assert.deepEqual(Object.keys(allOf(journal)).sort(), [...pids].sort());
    await journal.close();
  }
});
