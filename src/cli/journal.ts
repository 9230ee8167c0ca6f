import type { Command } from "./command.js";

export const journal: Command = {
  name: "journal",
  operands: ["info|verify|export", "DIR"],
  summary: "look into a journal, also while a service runs with it",
  details:
    "info says whose journal it is and what is in it. verify reads all of it, compares every checksum, and fails " +
    "if something is damaged. export writes every key with its newest value, one JSON object per line. All three " +
    "only read: they take nothing over and stop nobody.",
  options: {},
  async run(args, terminal) {
    return (await import("./look-into-journal.js")).lookIntoJournal(args, terminal);
  },
};
