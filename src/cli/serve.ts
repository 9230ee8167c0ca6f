import { readFile } from "node:fs/promises";
import { HOSTS_MAX } from "../host/ports/index.js";
import { isNatsAddress } from "../journal/stream/nats-address.js";
import { checkPart } from "../packages.js";
import { misused, unreadable } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { aborted, onInterrupt } from "./interrupt.js";
import { loadModule } from "./program.js";
import { findProgram } from "./program-file.js";
import type { ClusterWishes, PgWishes } from "./serve-streams.js";
import { logSettings, TELEMETRY_OPTIONS } from "./telemetry-options.js";

const PORT = 4400;
const MEMORY_MB = 1024;
const PORT_MAX = 65_535;
const LOOPBACK = "127.0.0.1";

export const serve: CliCommand = {
  name: "serve",
  operands: [],
  summary: "start the streaming service on this machine",
  details:
    "Streams, standing SQL queries and their results over HTTP, on the loopback interface. Everything is kept in the journal: " +
    "killed and started again, the service goes on where it was. The first start makes a token with all rights, prints " +
    "it, and keeps it in the file admin.token of the directory, for this user only. With --cluster, any number of processes serve " +
    "the same streams together: each takes all requests, and another goes on when one ends.",
  options: {
    journal: {
      value: "DIR",
      help: "where everything is kept (./headwater-data); with --cluster, only admin.token",
    },
    cluster: {
      value: "ADDRESS",
      help: "be one of several processes of a cluster: nats://HOST:PORT,HOST:PORT/NAME",
    },
    name: { value: "NAME", help: "what this process is called in its cluster (its machine and number)" },
    "member-host": {
      value: "HOST",
      help: "where other members reach this process (127.0.0.1: this machine only)",
    },
    replicas: {
      value: "COUNT",
      help: "how many processes of the cluster run the queries of each tenant, the head among them (3)",
    },
    port: { value: "N", help: `the port (${PORT}); 0 takes one that is free` },
    "output-files": {
      value: "DIR",
      help: "lets tenants write outputs to files, each below a folder of its own there",
    },
    "output-ca": {
      value: "FILE",
      help: "certificates (PEM) of authorities that https targets may have theirs from",
    },
    "private-targets": { help: "lets tenants send outputs to this machine and to private networks" },
    "listening-sources": { help: "lets tenants open TCP ports for rows on the loopback interface" },
    "output-stdout": { help: "lets tenants send outputs to stdout of this process" },
    hosts: {
      value: "N",
      help: "how many threads run graphs and partitions of queries (1: the server's own)",
    },
    memory: {
      value: "MB",
      help: "what the streams and queries of all tenants may hold in memory together (1024)",
    },
    functions: { value: "FILE", help: "a module that declares functions for queries (docs/functions.md)" },
    "pg-port": {
      value: "N",
      help: "serve tables and views to PostgreSQL clients there; 0 takes a port that is free",
    },
    "pg-host": {
      value: "HOST",
      help: "the address for PostgreSQL clients (127.0.0.1); others need --pg-cert and --pg-key",
    },
    "pg-cert": { value: "FILE", help: "a certificate in PEM, for PostgreSQL clients over TLS" },
    "pg-key": { value: "FILE", help: "its key" },
    dashboard: { help: "serve the dashboard, too, below /headwater/" },
    ...TELEMETRY_OPTIONS,
    durability: { value: "synced|written", help: "when an event counts as safe (synced)" },
  },
  async run(args, terminal) {
    const { values, flags } = args;
    const port = portOf(values, "port") ?? PORT;
    const hosts = Number(values.get("hosts") ?? 1);
    if (!Number.isInteger(hosts) || hosts < 1 || hosts > HOSTS_MAX)
      throw misused(serve, `--hosts is a number from 1 to ${HOSTS_MAX}.`);
    const memoryMb = Number(values.get("memory") ?? MEMORY_MB);
    if (!Number.isSafeInteger(memoryMb * 2 ** 20) || memoryMb < 1)
      throw misused(serve, "--memory is a number of megabytes from 1 on.");
    const durability = values.get("durability") ?? "synced";
    if (durability !== "synced" && durability !== "written")
      throw misused(serve, "--durability is synced or written.");
    const cluster = clusterWishes(values);
    checkPart("SQL"); // not only when the first query comes
    const pg = await pgWishes(values);
    const functions = values.has("functions")
      ? findProgram(values.get("functions") ?? "", process.cwd())
      : null;
    if (functions !== null) await loadModule(functions);
    const { startService } = await import("./serve-streams.js");
    const ca = values.get("output-ca");
    const interrupt = onInterrupt(() => terminal.say("Stopping."));
    try {
      const started = await startService(
        values.get("journal") ?? "headwater-data",
        cluster,
        port,
        durability,
        hosts,
        terminal,
        pg,
        { dashboard: flags.has("dashboard"), metrics: flags.has("metrics"), log: logSettings(serve, args) },
        {
          isPrivateAllowed: flags.has("private-targets"),
          isListeningAllowed: flags.has("listening-sources"),
          directory: values.get("output-files") ?? null,
          stdout: flags.has("output-stdout") ? writeOut : null,
          ...(ca === undefined ? {} : { ca: await pemOf(ca) }),
        },
        functions,
        memoryMb * 2 ** 20,
      );
      const { url, token, readyMs, pgPort, dashboard } = started;
      if (flags.has("json")) terminal.out(JSON.stringify({ url, token, readyMs, pgPort, dashboard }));
      else {
        terminal.say(`Streams at ${url}, ready in ${readyMs} ms.`);
        if (pgPort !== null)
          terminal.say(
            `PostgreSQL clients: psql -h ${values.get("pg-host") ?? LOOPBACK} -p ${pgPort} -U default default`,
          );
        if (dashboard !== null) terminal.say(`Dashboard: ${dashboard}`);
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

function portOf(values: ReadonlyMap<string, string>, option: string): number | null {
  const text = values.get(option);
  if (text === undefined) return null;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= PORT_MAX) return port;
  throw misused(serve, `--${option} is a number from 0 to ${PORT_MAX}, not "${text}".`);
}

function clusterWishes(values: ReadonlyMap<string, string>): ClusterWishes | null {
  const journal = values.get("cluster");
  const [name, host, count] = [values.get("name"), values.get("member-host"), values.get("replicas")];
  if (journal === undefined) {
    if (name === undefined && host === undefined && count === undefined) return null;
    throw misused(
      serve,
      "--name, --member-host and --replicas are about a cluster; they need --cluster as well.",
    );
  }
  const replicas = count === undefined ? undefined : Number(count);
  if (replicas !== undefined && !(Number.isSafeInteger(replicas) && replicas >= 1))
    throw misused(serve, "--replicas is a number from 1 on.");
  if (!isNatsAddress(journal))
    throw misused(serve, "--cluster is the address of NATS servers: nats://HOST:PORT,HOST:PORT/NAME.");
  if (values.has("durability"))
    throw misused(serve, "--durability is about a journal of one process; leave it out with --cluster.");
  return { journal, member: { name, host, replicas } };
}

async function pgWishes(values: ReadonlyMap<string, string>): Promise<PgWishes | null> {
  const port = portOf(values, "pg-port");
  const [cert, key] = [values.get("pg-cert"), values.get("pg-key")];
  const others = ["pg-host", "pg-cert", "pg-key"].filter((option) => values.has(option));
  if (port === null && others.length > 0) throw misused(serve, `--${others[0]} needs --pg-port.`);
  if ((cert === undefined) !== (key === undefined))
    throw misused(serve, "--pg-cert and --pg-key go together.");
  if (port === null) return null;
  const tls =
    cert === undefined || key === undefined ? null : { cert: await pemOf(cert), key: await pemOf(key) };
  return { port, host: values.get("pg-host") ?? LOOPBACK, tls };
}

/** Resolves when the reader has taken the text: a reader that does not read holds back its output alone. */
function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) =>
    process.stdout.write(text, (error) => (error ? reject(error) : resolve())),
  );
}

async function pemOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw unreadable(serve, file, error);
  }
}
