import type { ParkedEvent } from "../host/store/index.js";
import { didYouMean } from "../suggest.js";
import { type AdminRequest, askDoor, PARKED_ACTIONS, runningProgram } from "./admin.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { Terminal } from "./terminal.js";

export const events: CliCommand = {
  name: "events",
  operands: ["parked", "[list|replay|drop]", "[ID]"],
  summary: "look at events that were parked because they end what runs them, run them again, drop them",
  details:
    "list shows them (it may be left out): events that no caller can ask for again (started, timers, messages, results of " +
    "outside calls) and that ended three hosts which ran nothing else. replay ID runs one again, as a new event, and says " +
    "what came of it; drop ID forgets it. The program is one that `headwater run --journal DIR` runs on this machine, for " +
    "the same user: --journal names its journal, or --admin what it was given as --admin.",
  options: {
    journal: { value: "DIR", help: "the journal of the program" },
    admin: { value: "PATH", help: "where the program listens" },
  },
  async run(args, terminal) {
    const request = requestIn(args);
    const value = await askDoor(runningProgram(events, args), request);
    if (args.flags.has("json")) {
      const lines = request.action === "parked" ? (value as unknown[]) : [{ ...request, value }];
      for (const line of lines) terminal.out(JSON.stringify(line));
    } else show(request, value, terminal);
    return 0;
  },
};

function requestIn({ operands: [what, written = "list", event, extra] }: Arguments): AdminRequest {
  if (what !== "parked") throw misused(events, `Which events? "${what ?? ""}" is not parked.`);
  const names = Object.keys(PARKED_ACTIONS) as (keyof typeof PARKED_ACTIONS)[];
  const name = names.find((each) => each === written);
  if (name === undefined)
    throw misused(events, `"${written}" is none of ${names.join(", ")}.${didYouMean(written, names)}`);
  const tooMany = name === "list" ? event : extra;
  if (tooMany !== undefined) throw misused(events, `"${tooMany}" is one word too many.`);
  if (name !== "list" && event === undefined) throw misused(events, `${name} needs the ID of an event.`);
  return { action: PARKED_ACTIONS[name], event };
}

function show({ action, event }: AdminRequest, value: unknown, terminal: Terminal): void {
  if (action === "drop") return terminal.say(`${event} is dropped.`);
  if (action === "replay") return terminal.say(`${event} has run. It returned ${JSON.stringify(value)}.`);
  const list = value as ParkedEvent[];
  if (list.length === 0) return terminal.say("No event is parked.");
  for (const { id, context, method, args, startedBy, time, hostsLost, why, bytes } of list) {
    terminal.out(`${id}  ${context}.${method}(${args.map((each) => JSON.stringify(each)).join(", ")})`);
    const when = new Date(time).toISOString();
    terminal.out(
      `  started by: ${startedBy}, ${when}; ${bytes} bytes; ended ${hostsLost} hosts, the last: ${why}`,
    );
  }
}
