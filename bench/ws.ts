import { parseArgs } from "node:util";
import { startByKey } from "./lib/headwater.js";
import { startOverSocket } from "./lib/headwater-ws.js";
import { jsonLine, table } from "./lib/report.js";
import { type Effort, measure } from "./lib/rounds.js";
import type { Case } from "./lib/subject.js";

/**
 * The counters of `micro` asked over a WebSocket from another process, beside the same program asked in its own. Both
 * name the context anew for each event, as an API function does.
 */

const CONTEXTS = 160;
const IN_FLIGHT = [1, 256, 1024];

const FULL: Effort = { rounds: 9, warmUpMs: 500, roundMs: 200 };
const QUICK: Effort = { rounds: 5, warmUpMs: 20, roundMs: 20 };

const within = (name: string, start: Case["start"]): Case => {
  return { name, start, baseline: "headwater", contexts: CONTEXTS, countsPerEvent: 1, journal: "memory" };
};
const cases: readonly Case[] = [within("headwater", startByKey), within("headwater-ws", startOverSocket)];

export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: "boolean" }, quick: { type: "boolean" }, events: { type: "string" } },
  });
  const events = values.events === undefined ? undefined : Number(values.events);
  if (events !== undefined && !(Number.isSafeInteger(events) && events > 0)) {
    throw new Error(`--events takes a whole number, not "${values.events}".`);
  }
  const effort = { ...(values.quick ? QUICK : FULL), events };
  const settings = IN_FLIGHT.map((inFlight) => ({ work: 0, inFlight }));
  const figures = await measure(cases, settings, effort, (line) => process.stderr.write(`ws: ${line}\n`));
  if (values.json) for (const each of figures) process.stdout.write(`${jsonLine("ws", each)}\n`);
  else process.stdout.write(table(figures));
}
