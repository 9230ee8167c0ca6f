import type { HostInfo } from "../host/fleet/index.js";
import { didYouMean } from "../suggest.js";
import { ACTIONS, type AdminRequest, askDoor, runningProgram } from "./admin.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { Terminal } from "./terminal.js";

export const hosts: CliCommand = {
  name: "hosts",
  operands: ["[list|add|drain|remove|move]", "[COUNT|HOST|CONTEXT]", "[HOST]"],
  summary: "look at the hosts of a program that runs, add and remove some, move contexts",
  details:
    "list shows the hosts (it may be left out). add starts one host, or COUNT. drain HOST moves everything away from a " +
    "host; remove HOST drains it and ends it. move CONTEXT HOST moves a context with all that is below it: " +
    "`headwater hosts move 'Game.buildings(1)' 2`. The program is one that `headwater run --hosts N` runs on this machine, " +
    "for the same user: --journal names its journal, or --admin what it was given as --admin.",
  options: {
    journal: { value: "DIR", help: "the journal of the program" },
    admin: { value: "PATH", help: "where the program listens" },
  },
  async run(args, terminal) {
    const request = requestIn(args);
    const value = await askDoor(runningProgram(hosts, args), request);
    if (args.flags.has("json")) {
      const lines = request.action === "list" ? (value as unknown[]) : [{ ...request, value }];
      for (const line of lines) terminal.out(JSON.stringify(line));
    } else show(request, value, terminal);
    return 0;
  },
};

function requestIn({ operands }: Arguments): AdminRequest {
  const [written = "list", first, second] = operands;
  const action = ACTIONS.find((each) => each === written);
  if (action === undefined)
    throw misused(hosts, `"${written}" is none of ${ACTIONS.join(", ")}.${didYouMean(written, ACTIONS)}`);
  const takes = { list: 0, add: 1, drain: 1, remove: 1, move: 2 }[action];
  const extra = operands[takes + 1];
  if (extra !== undefined) throw misused(hosts, `"${extra}" is one word too many.`);
  switch (action) {
    case "list":
      return { action };
    case "add":
      return { action, count: first === undefined ? 1 : numberIn(first, "COUNT") };
    case "move":
      if (first === undefined) throw misused(hosts, "move needs a context and a host.");
      return { action, context: first, host: numberIn(second, "HOST") };
    default:
      return { action, host: numberIn(first, "HOST") };
  }
}

function numberIn(written: string | undefined, what: string): number {
  if (written !== undefined && /^\d{1,6}$/.test(written)) return Number(written);
  throw misused(hosts, `${what} is a number${written === undefined ? "" : `, not "${written}"`}.`);
}

function show({ action, context, host }: AdminRequest, value: unknown, terminal: Terminal): void {
  switch (action) {
    case "list":
      terminal.out("host  state     contexts  events  busy   heap     events/s  queue     restarts");
      for (const info of value as HostInfo[]) terminal.out(row(info));
      return;
    case "add":
      return terminal.say(`Added: host ${(value as number[]).join(", host ")}.`);
    case "drain":
      return terminal.say(`Host ${host} is empty and takes nothing more.`);
    case "remove":
      return terminal.say(`Host ${host} is removed.`);
    case "move":
      return terminal.say(`${context} is on host ${host}.`);
  }
}

function row({ id, state, contexts, events, restarts, load }: HostInfo): string {
  const cells: [string, number][] = [
    [String(id), 6],
    [state, 10],
    [String(contexts), 10],
    [String(events), 8],
    [load === null ? "-" : `${Math.round(load.utilisation * 100)} %`, 7],
    [load === null ? "-" : `${(load.heapBytes / 2 ** 20).toFixed(1)} MB`, 9],
    [load === null ? "-" : Math.round(load.eventsPerSecond).toLocaleString("en"), 10],
    [load === null ? "-" : `${load.queueMs.toFixed(1)} ms`, 10],
    [String(restarts), 0],
  ];
  return cells.map(([text, width]) => text.padEnd(width)).join("");
}
