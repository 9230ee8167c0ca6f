import { HOSTS_MAX } from "../host/ports/index.js";
import { misused } from "./arguments.js";
import type { Command } from "./command.js";
import { aborted, onInterrupt } from "./interrupt.js";

const PORT = 4400;
const PORT_MAX = 65_535;

export const serve: Command = {
  name: "serve",
  operands: [],
  summary: "start the streaming service on this machine",
  details:
    "Streams, standing SQL queries and their results over HTTP, on the loopback interface. Everything is kept in the journal: " +
    "killed and started again, the service goes on where it was. The first start makes a token with all rights, prints " +
    "it, and keeps it in the file admin.token of the directory, for this user only.",
  options: {
    journal: { value: "DIR", help: "where everything is kept (./headwater-data)" },
    port: { value: "N", help: `the port (${PORT}); 0 takes one that is free` },
    hosts: {
      value: "N",
      help: "how many threads run graphs and partitions of queries (1: the server's own)",
    },
    durability: { value: "synced|written", help: "when an event counts as safe (synced)" },
  },
  async run({ values, flags }, terminal) {
    const port = Number(values.get("port") ?? PORT);
    if (!Number.isInteger(port) || port < 0 || port > PORT_MAX)
      throw misused(serve, `--port is a number from 0 to ${PORT_MAX}.`);
    const hosts = Number(values.get("hosts") ?? 1);
    if (!Number.isInteger(hosts) || hosts < 1 || hosts > HOSTS_MAX)
      throw misused(serve, `--hosts is a number from 1 to ${HOSTS_MAX}.`);
    const durability = values.get("durability") ?? "synced";
    if (durability !== "synced" && durability !== "written")
      throw misused(serve, "--durability is synced or written.");
    const { startService } = await import("./serve-streams.js");
    const interrupt = onInterrupt(() => terminal.say("Stopping."));
    try {
      const started = await startService(
        values.get("journal") ?? "headwater-data",
        port,
        durability,
        hosts,
        terminal,
      );
      const { url, token, readyMs } = started;
      if (flags.has("json")) terminal.out(JSON.stringify({ url, token, readyMs }));
      else {
        terminal.say(`Streams at ${url}, ready in ${readyMs} ms.`);
        terminal.out(`token ${token}`);
      }
      await Promise.race([aborted(interrupt.signal), started.failed]);
      await started.close();
      return 0;
    } finally {
      interrupt.release();
    }
  },
};
