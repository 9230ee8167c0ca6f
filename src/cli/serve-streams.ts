import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Dashboard } from "../dashboard/index.js";
import { HeadwaterError } from "../errors.js";
import { type PgServer, servePostgres } from "../pgwire/index.js";
import { listen, type PortListener } from "../server/listen.js";
import { StreamsHttp } from "../streams/http/index.js";
import { StreamService, type StreamsOptions } from "../streams/index.js";
import { StreamsCatalog } from "../streams/pg/index.js";
import { DASHBOARD_TOKEN, shared } from "./places.js";
import { serve } from "./serve.js";
import { streamLines } from "./stream-metrics.js";
import { MetricsPlace, openLog } from "./telemetry.js";
import type { LogSettings } from "./telemetry-options.js";
import type { Terminal } from "./terminal.js";

const JOURNAL = "journal";
const ADMIN_TOKEN = "admin.token";
/** The process that serves, for scripts that stop it. */
const PID = "serve.pid";
const OWN = [JOURNAL, ADMIN_TOKEN, PID];

export interface Started {
  readonly url: string;
  readonly token: string;
  readonly readyMs: number;
  /** Where PostgreSQL clients are served. */
  readonly pgPort: number | null;
  /** The address that opens the dashboard and signs it in, once. */
  readonly dashboard: string | null;
  /** Rejects when nothing can be kept any more. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Who looks on: a page, Prometheus, a log. */
export interface SeenBy {
  readonly dashboard: boolean;
  readonly metrics: boolean;
  readonly log: LogSettings | null;
}

/** Whether, where and how PostgreSQL clients are served. */
export interface PgWishes {
  readonly port: number;
  readonly host: string;
  /** In PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** Of which cluster this process is a member, and what it is there. */
export interface ClusterWishes {
  readonly journal: string;
  readonly member: {
    readonly name: string | undefined;
    readonly host: string | undefined;
    readonly replicas: number | undefined;
  };
}

/** Starts the service: the port first, so that a process that cannot have it touches no journal. */
export async function startService(
  folder: string,
  cluster: ClusterWishes | null,
  port: number,
  durability: "synced" | "written",
  hosts: number,
  terminal: Terminal,
  pg: PgWishes | null,
  seen: SeenBy,
  outputs: NonNullable<StreamsOptions["outputs"]>,
  functions: string | null,
  memoryBytes: number,
): Promise<Started> {
  const began = performance.now();
  const listener = await listen({ port, log: (line) => terminal.say(line) });
  try {
    if (cluster === null) await refuseForeign(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    let fail: (error: HeadwaterError) => void = () => {};
    const failed = new Promise<never>((_, reject) => {
      fail = reject;
    });
    failed.catch(() => {}); // it is waited for once the service has started
    const service = await StreamService.open({
      ...(cluster ?? { journal: join(folder, JOURNAL), durability }),
      hosts,
      onFailure: fail,
      outputs,
      memoryBytes,
      warn: (line) => terminal.say(line),
      ...(functions === null ? {} : { functions }),
    });
    const token = await adminToken(service, join(folder, ADMIN_TOKEN));
    const log = await openLog(serve, seen.log, service.program);
    const dashboard = seen.dashboard ? await dashboardOf(service, folder, listener) : null;
    const metrics = seen.metrics ? metricsOf(service, listener) : null;
    const http = new StreamsHttp(service, shared(listener, { dashboard, files: null, metrics }));
    const catalog = new StreamsCatalog(service);
    const clients =
      pg === null
        ? null
        : await pgServer(catalog, pg, terminal).catch(async (error: unknown) => {
            await service.close();
            throw error;
          });
    const pid = join(folder, PID);
    await writeFile(pid, `${process.pid}\n`);
    return {
      ...{ url: listener.url, token, failed, readyMs: Math.round(performance.now() - began) },
      pgPort: clients?.port ?? null,
      dashboard: dashboard === null ? null : `${listener.url}${dashboard.entry()}`,
      close: async () => {
        http.close();
        await dashboard?.close();
        metrics?.close();
        catalog.close();
        await clients?.close();
        listener.close();
        listener.http.closeAllConnections();
        await service.close();
        await log.close();
        await rm(pid, { force: true });
      },
    };
  } catch (error) {
    listener.close();
    throw error;
  }
}

/** The dashboard of the service. Its operator sees all tenants; tokens of tenants show what is theirs. */
async function dashboardOf(
  service: StreamService,
  folder: string,
  listener: PortListener,
): Promise<Dashboard> {
  const { Dashboard: Class } = await import("../dashboard/index.js");
  return new Class(service.program, {
    ...{ program: "streams", journal: join(folder, JOURNAL), startedAtMs: Date.now() },
    ...{ kill: null, load: { factor: 1 }, secretClasses: SECRET_CLASSES },
    ...{ token: process.env[DASHBOARD_TOKEN], isLocal: listener.isLocal },
    streams: {
      service: async () => service,
      granted: (token) => service.granted(token),
      close: async () => {}, // the service is closed by its owner
    },
  });
}

/** The figures of the service, and those of the streams of tenants that are open. */
function metricsOf(service: StreamService, listener: PortListener): MetricsPlace {
  return new MetricsPlace(service.program, listener.isLocal, () => streamLines(service));
}

/** Contexts that keep tokens' hashes, and what outputs and sources sign in with. */
const SECRET_CLASSES = ["Tenant", "Outputs", "KeptSources"];

function pgServer(
  catalog: StreamsCatalog,
  { port, host, tls }: PgWishes,
  terminal: Terminal,
): Promise<PgServer> {
  const log = (line: string) => terminal.say(line);
  const secure = tls === null ? {} : { tls };
  return servePostgres({ catalog, port, host, log, ...secure });
}

/** A mistyped path must not fill a directory that has another purpose. */
async function refuseForeign(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] | null => {
    if (error.code === "ENOENT") return [];
    if (error.code === "ENOTDIR") return null;
    throw error;
  });
  const foreign = names?.find((name) => !OWN.includes(name));
  if (names !== null && (foreign === undefined || names.includes(JOURNAL))) return;
  const why = foreign === undefined ? "it is a file" : `it holds ${foreign}, but no journal`;
  throw new HeadwaterError(
    "HW-3001",
    `${folder} is not the directory of a service: ${why}. Nothing was changed. ` +
      "Name a directory that is empty, does not exist yet, or was made by headwater serve.",
  );
}

/** The token of an earlier start, if it is good, or a new one. */
async function adminToken(service: StreamService, file: string): Promise<string> {
  const kept = await readFile(file, "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  if ((await service.granted(kept)) !== null) return kept;
  const token = await service.addToken("default", ["operator", "admin"]);
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  return token;
}
