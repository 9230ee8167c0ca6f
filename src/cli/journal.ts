import type { CliCommand } from "./command.js";

export const journal: CliCommand = {
  name: "journal",
  operands: ["info|verify|export|backup|repair|at|diff", "DIR"],
  summary: "look into a journal or copy it, also while a service runs with it; repair one",
  details:
    "info says whose journal it is and what is in it. verify reads all of it, compares every checksum, and fails " +
    "if something is damaged. export writes every key with its newest value, one JSON object per line. backup " +
    "copies it to the directory --to. at writes the states of contexts as they were as of --ticket, diff the states that differ between " +
    "two tickets, of a program that was run with --history. All of these only read: they take nothing over and stop no process. repair puts what is whole of a " +
    "damaged journal into its place, says what is lost, and keeps the damaged one beside it.",
  options: {
    ticket: { value: "N|N..M", help: "for at and diff: the ticket, or the two tickets" },
    node: { value: "NAME", help: "for at and diff: the logical node, if there are several" },
    to: { value: "DIR", help: "where backup puts the copy: a directory that does not exist yet" },
  },
  async run(args, terminal) {
    return (await import("./look-into-journal.js")).lookIntoJournal(args, terminal);
  },
};
