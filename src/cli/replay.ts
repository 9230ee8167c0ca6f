import type { CliCommand } from "./command.js";

export const replay: CliCommand = {
  name: "replay",
  operands: ["PROGRAM", "DIR"],
  summary: "run one event of the past again, on the state it saw, and change nothing",
  details:
    "DIR is the journal of the program, which was run with --history. The event with the ticket runs alone, in memory, on the " +
    "state as of the ticket before it. It prints what the event returned or threw and what it would have changed. Nothing is " +
    "written, no outside function is called, no message leaves and no event that it starts is run. With --inspect it waits for a " +
    "debugger first.",
  options: {
    ticket: { value: "N", help: "the ticket of the event" },
    node: { value: "NAME", help: "the logical node whose ticket it is, if the program has several" },
    inspect: { help: "wait until a debugger is attached (127.0.0.1:9229), before the event begins" },
  },
  async run(args, terminal) {
    return await (await import("./replay-event.js")).replayEvent(args, terminal);
  },
};
