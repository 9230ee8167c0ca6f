import type { CliCommand } from "./command.js";
import { FLUXION_OPTIONS, refuseFluxionOptions } from "./fluxion-options.js";
import { PROVISION_OPTIONS } from "./provision-options.js";
import { TELEMETRY_OPTIONS } from "./telemetry-options.js";

export const run: CliCommand = {
  name: "run",
  operands: ["PROGRAM"],
  summary: "run a program, TypeScript or JavaScript",
  details:
    "PROGRAM is a file (its ending may be left out) or a folder with an index file. Its default export is the " +
    "root class, or an object of root classes, one for each logical node. If it exports `main(service, io)`, " +
    "that is called, and the run ends when main has returned and nothing is in flight. Without a main the " +
    "program runs until Ctrl-C. With --port, what it exports as `api` is served over HTTP and WebSocket, and the " +
    "run goes on until Ctrl-C in any case. With --journal, what the program knows is kept in that directory: run again " +
    "with the same one, it goes on where it was, however it ended. With --cluster, any number of processes run the program " +
    "together: each takes requests, one of them carries them out, and another takes its place when it ends.",
  options: {
    "commit-order": { value: "observer|total", help: "who waits for whom at commit (observer)" },
    journal: { value: "DIR", help: "keep what the program knows in this directory" },
    cluster: {
      value: "ADDRESS",
      help: "be one of several processes of a cluster: nats://HOST:PORT,HOST:PORT/NAME",
    },
    name: { value: "NAME", help: "what this process is called in its cluster (its machine and number)" },
    "member-host": {
      value: "HOST",
      help: "where other members reach this process (127.0.0.1: this machine only)",
    },
    logs: {
      value: "LOG=A,B;…",
      help: "with --cluster: logical nodes that have a log and a head of their own",
    },
    ...PROVISION_OPTIONS,
    durability: {
      value: "synced|written",
      help: "survive a crash of the machine, or of the process only (synced)",
    },
    history: {
      value: "N|TIME",
      help: "keep the past of so many tickets, or of 1h, 30m, … (with --journal): journal at, replay",
    },
    "take-over": { help: "take the journal over from the process that has it open" },
    "drop-node": {
      value: "A,B",
      help: "delete what the journal has of these logical nodes, which the program no longer has",
    },
    hosts: {
      value: "N|MIN..MAX|cores",
      help: "run events on so many hosts, or as many as the load needs (1: all in one thread)",
    },
    processes: { help: "hosts are processes of their own, not threads" },
    policy: {
      value: "FILE",
      help: "how to tell what the load needs: a policy, or bounds (with --hosts MIN..MAX)",
    },
    "record-load": { value: "FILE", help: "record what is asked for, for `headwater policy try`" },
    admin: { value: "PATH", help: "let `headwater hosts` and `events` in here (with a journal: there)" },
    supervise: { help: "start the program again when its process ends or is stuck (with --journal)" },
    forever: { help: "tell main to go on until Ctrl-C (io.forever)" },
    port: { value: "N", help: "serve the program's `api` at this port; 0 is any that is free" },
    host: { value: "NAME", help: "the address to serve it at (127.0.0.1: this machine only)" },
    origins: { value: "A,B", help: "web pages of these origins may call: https://example.org,…" },
    static: { value: "DIR", help: "serve the files of this folder, too, such as a web page" },
    dashboard: { help: "serve the dashboard, too, below /headwater/ (at --port, or any that is free)" },
    ...TELEMETRY_OPTIONS,
    ...FLUXION_OPTIONS,
  },
  passesOn: true,
  async run(args, terminal) {
    if (args.flags.has("fluxions")) return (await import("./run-fluxions.js")).runFluxions(run, args);
    refuseFluxionOptions(run, args);
    if (args.flags.has("supervise"))
      return (await import("./supervise.js")).superviseRun(run, args, terminal);
    return (await import("./run-program.js")).runProgram(args, terminal);
  },
};
