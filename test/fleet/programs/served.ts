import { createInterface } from "node:readline";
import { expose, isHost, MemoryJournal, run, serve } from "headwater";
import Counters from "./counters.js";

/** Serves a program on host processes; told to, it ends its hosts, and says when an event has run on a new one. */
if (!isHost()) {
  const service = await run(Counters, {
    hosts: 1,
    hostsAs: "processes",
    module: new URL("./counters.ts", import.meta.url).href,
    journal: new MemoryJournal(),
    onWarning: () => {},
  });
  const api = expose(Counters, { add: (root) => root.counters(1).add() });
  const server = await serve(service, api);
  console.log(server.port);
  for await (const _ of createInterface({ input: process.stdin })) {
    const counter = service.root.counters(1);
    const pids = new Set<number>();
    // The spare host takes the place of the first; those after it must be spawned.
    while (pids.size < 4) {
      const pid = await counter.where();
      if (!pids.has(pid)) process.kill(pid, "SIGKILL");
      pids.add(pid);
    }
    console.log("replaced");
  }
}
