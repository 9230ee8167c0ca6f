import type { IncomingMessage, ServerResponse } from "node:http";
import type { ClusterStatus } from "../cluster/index.js";
import { HeadwaterError } from "../errors.js";
import type { HostInfo, ProgramHosts } from "../host/fleet/index.js";
import type { ContextOutline } from "../host/inspector.js";
import { type AnyService, HOSTS, hostsOf, inspectorOf, parkedOf } from "../host/service.js";
import type { BusyContext } from "./busy.js";
import type { Monitor, Notice } from "./monitor.js";
import type { Second } from "./seconds.js";

/** What a route needs. */
export interface DashboardRequest {
  readonly service: AnyService;
  readonly monitor: Monitor;
  readonly query: URLSearchParams;
  /** The body of a POST, parsed; an object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly about: DashboardAbout;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What is known of the program besides the service. */
export interface DashboardAbout {
  readonly program: string;
  readonly journal: string | null;
  readonly startedAtMs: number;
  /** Ends a host without warning; null where that is not offered. */
  readonly kill: ((host: number) => void) | null;
  /** How much load the program makes by itself; it reads `io.load`. */
  readonly load: { factor: number };
  /** Classes of contexts whose state holds secrets, and is not shown. */
  readonly secretClasses?: readonly string[];
  /** The cluster that the process belongs to. */
  readonly cluster?: DashboardCluster;
}

/** What the page shows and does of a cluster. */
export interface DashboardCluster {
  status(): Promise<ClusterStatus>;
  /** Lets another member become the head of a log, one that can if none is named. */
  handOver(
    to: string | null,
    log: string | undefined,
  ): Promise<{ readonly from: string; readonly to: string }>;
  drain(member: string): Promise<string>;
}

/** What `overview` answers. */
export interface DashboardOverview {
  readonly program: string;
  readonly journal: string | null;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly node: string;
  readonly pid: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly canKill: boolean;
  readonly load: number;
  readonly roots: readonly string[];
  readonly hosts: readonly HostInfo[] | null;
  readonly seconds: readonly Second[];
  readonly notices: readonly Notice[];
}

/** What `context` answers. */
export interface ShownContext extends ContextOutline {
  readonly busy: BusyContext | null;
}

/** One context of the page that `children` answers. */
export interface ShownChild {
  readonly address: string;
  readonly host: number | null;
  readonly busy: BusyContext | null;
}

/** What `look` answers of one context, in the order of the addresses that were asked about: they may be long, and are not repeated. */
export interface ContextLook {
  readonly host: number | null;
  readonly perSecond: number | null;
}

type Route = (asked: DashboardRequest) => unknown;

const STATE_BYTES = 256 * 1024;
/** Of one page of a list. Addresses may be long: a list is cut where its bytes end, and goes on behind its last entry. */
const PAGE_BYTES = 64 * 1024;
const PAGE_MAX = 1000;
const LOAD_MAX = 1000;
/** So many lines of a tree are in sight at once, at most. */
const LOOK_MAX = 200;

function hostsIn(service: AnyService): ProgramHosts | null {
  return service[HOSTS];
}

function clusterIn({ cluster }: DashboardAbout): DashboardCluster {
  if (cluster !== undefined) return cluster;
  throw new HeadwaterError("HW-4004", "the program is in no cluster.");
}

/** A text that the caller must have given. */
function text(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "" && value.length <= 4096) return value;
  throw new HeadwaterError("HW-4005", `"${name}" is missing, or is not a text.`);
}

function integer(value: unknown, name: string): number {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new HeadwaterError("HW-4005", `"${name}" is missing, or is not a whole number.`);
}

function limitIn(query: URLSearchParams): number {
  const limit = integer(query.get("limit") ?? 100, "limit");
  if (limit >= 1 && limit <= PAGE_MAX) return limit;
  throw new HeadwaterError("HW-4005", `"limit" is from 1 to ${PAGE_MAX}.`);
}

function mayShow({ secretClasses = [] }: DashboardAbout, className: string, address: string): void {
  if (secretClasses.includes(className))
    throw new HeadwaterError("HW-5409", `the state of ${address} holds secrets, and is shown to no caller.`);
}

/** The first of these that fit into a page; one at least, so that a list always goes on. */
function fitting<T>(all: readonly T[]): readonly T[] {
  let bytes = 0;
  const end = all.findIndex((each, i) => {
    bytes += Buffer.byteLength(JSON.stringify(each));
    return bytes > PAGE_BYTES && i > 0;
  });
  return end < 0 ? all : all.slice(0, end);
}

/** The logical node of a context. */
function nodeOf(service: AnyService, address: string): string {
  return inspectorOf(service).outline(address).node;
}

/** What is asked, by method and path. What changes something is a POST. */
export const ROUTES: Readonly<Record<string, Route>> = {
  "GET overview": ({ service, about, monitor }): DashboardOverview => {
    const memory = process.memoryUsage();
    return {
      program: about.program,
      journal: about.journal,
      startedAtMs: about.startedAtMs,
      nowMs: Date.now(),
      node: process.version,
      pid: process.pid,
      rssBytes: memory.rss,
      heapBytes: memory.heapUsed,
      canKill: about.kill !== null,
      load: about.load.factor,
      roots: inspectorOf(service).roots,
      hosts: hostsIn(service)?.list() ?? null,
      seconds: monitor.seconds.past,
      notices: monitor.notices,
    };
  },
  "GET hosts": ({ service }) => ({ hosts: hostsIn(service)?.list() ?? null }),
  "GET busy": ({ monitor, query }) => ({
    contexts: fitting(monitor.busy.top(limitIn(query), query.get("text") ?? "")),
  }),
  "POST look": ({ service, monitor, body }) => {
    const { addresses } = body;
    if (!Array.isArray(addresses) || addresses.length > LOOK_MAX)
      throw new HeadwaterError("HW-4005", `"addresses" is a list of at most ${LOOK_MAX} addresses.`);
    const hosts = hostsIn(service);
    return {
      looks: addresses.map((each: unknown): ContextLook => {
        const address = text(each, "addresses");
        const perSecond = monitor.busy.of(address)?.perSecond ?? null;
        return { host: hosts?.where(address) ?? null, perSecond };
      }),
    };
  },
  "GET context": ({ service, monitor, query }): ShownContext => {
    const address = text(query.get("address"), "address");
    const outline = inspectorOf(service).outline(address);
    return { ...outline, busy: monitor.busy.of(outline.address) };
  },
  "GET children": ({ service, monitor, query }) => {
    const [address, field] = [text(query.get("address"), "address"), text(query.get("field"), "field")];
    const after = query.get("after");
    const inspector = inspectorOf(service);
    const page = inspector.children(address, field, {
      limit: limitIn(query),
      ...(after === null ? {} : { after }),
    });
    const hosts = hostsIn(service);
    const all = page.addresses.map((each): ShownChild => {
      return { address: each, host: hosts?.where(each) ?? null, busy: monitor.busy.of(each) };
    });
    const contexts = fitting(all);
    return { contexts, hasMore: page.hasMore || contexts.length < all.length };
  },
  "GET state": async ({ service, query, about }) => {
    const address = text(query.get("address"), "address");
    mayShow(about, inspectorOf(service).outline(address).className, address);
    return { address, state: JSON.parse(await inspectorOf(service).state(address, STATE_BYTES)) as unknown };
  },
  "GET cluster": async ({ about }) => ({ cluster: (await about.cluster?.status()) ?? null }),
  "POST cluster/handover": ({ about, body }) => {
    const { to, log } = body;
    return clusterIn(about).handOver(
      to === undefined || to === null ? null : text(to, "to"),
      log === undefined || log === "" ? undefined : text(log, "log"),
    );
  },
  "POST cluster/drain": async ({ about, body }) => {
    return { drained: await clusterIn(about).drain(text(body.member, "member")) };
  },
  "GET history": ({ service, query }) => {
    const address = text(query.get("address"), "address");
    return { history: inspectorOf(service).history()[nodeOf(service, address)] ?? null };
  },
  "GET past": ({ service, query, about }) => {
    const address = text(query.get("address"), "address");
    const inspector = inspectorOf(service);
    mayShow(about, inspector.outline(address).className, address);
    const past = inspector.at(integer(query.get("ticket"), "ticket"), nodeOf(service, address));
    return { address, ticket: past.ticket, state: past.state(address, STATE_BYTES) };
  },
  "GET events": ({ monitor, query }) =>
    monitor.recent.list({
      text: query.get("text") ?? "",
      failedOnly: query.get("failed") === "true",
      after: integer(query.get("after") ?? 0, "after"),
      limit: limitIn(query),
      bytesMax: PAGE_BYTES,
    }),
  "GET event": ({ service, monitor, query }) => {
    const story = monitor.recent.story(
      text(query.get("node"), "node"),
      integer(query.get("ticket"), "ticket"),
    );
    if (story === null)
      throw new HeadwaterError("HW-4004", "the event is not among the last ones that are remembered.");
    const changed = inspectorOf(service).changedBy(story.event.node, story.event.ticket);
    return { ...story, changed: changed === null ? null : fitting(changed) };
  },
  "GET parked": ({ service }) => ({
    parked: parkedOf(service)
      .list()
      .map(({ args: _, ...rest }) => rest),
  }),
  "POST parked/replay": async ({ service, body }) => {
    await parkedOf(service).replay(text(body.event, "event"));
    return {};
  },
  "POST parked/drop": async ({ service, body }) => {
    await parkedOf(service).drop(text(body.event, "event"));
    return {};
  },
  "POST hosts/add": async ({ service, body }) => {
    return { hosts: await hostsOf(service).add(integer(body.count ?? 1, "count")) };
  },
  "POST hosts/drain": async ({ service, body }) => {
    await hostsOf(service).drain(integer(body.host, "host"));
    return {};
  },
  "POST hosts/remove": async ({ service, body }) => {
    await hostsOf(service).remove(integer(body.host, "host"));
    return {};
  },
  "POST hosts/kill": ({ about, body }) => {
    if (about.kill === null)
      throw new HeadwaterError(
        "HW-4004",
        "hosts can be killed only where a program runs to be tried: `headwater dev`.",
      );
    about.kill(integer(body.host, "host"));
    return {};
  },
  "POST load": ({ about, body }) => {
    const { factor } = body;
    if (typeof factor !== "number" || !(factor >= 0 && factor <= LOAD_MAX))
      throw new HeadwaterError("HW-4005", `"factor" is a number from 0 to ${LOAD_MAX}.`);
    about.load.factor = factor;
    return {};
  },
  "POST migrate": async ({ service, body }) => {
    await hostsOf(service).move(text(body.context, "context"), integer(body.host, "host"));
    return {};
  },
};
