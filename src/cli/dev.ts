import type { CliCommand } from "./command.js";

export const dev: CliCommand = {
  name: "dev",
  operands: ["[PROGRAM]"],
  summary: "run a program while you write it, with the dashboard",
  details:
    "Runs the program (without one, a sample: entities that move over a grid, with a page to watch them) on two host " +
    "processes with a journal, serves its `api` and the dashboard at one port, and starts it again when a file is saved, with " +
    "its state kept. A version that cannot be loaded, or that does not fit the state, is reported and not started: the " +
    "one before it goes on. Keys: h help, o open the dashboard, l and L more and less load (io.load), k kill a host, m " +
    "migrate the busiest context, r start with empty state, q quit.",
  options: {
    port: { value: "N", help: "where to serve (4400, or the next that is free)" },
    hosts: { value: "N", help: "on how many host processes (2); 1 is the one thread of the program" },
    journal: { value: "DIR", help: "where the state is kept (.headwater/NAME)" },
    static: { value: "DIR", help: "serve the files of this folder, too, such as a web page" },
    "no-watch": { help: "do not start again when a file is saved" },
  },
  async run(args, terminal) {
    return await (await import("./dev-session.js")).runDev(args, terminal);
  },
};
