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
  /** The members of the cluster that the process belongs to, and their log. */
  readonly cluster?: () => Promise<ClusterStatus>;
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

type Route = (asked: DashboardRequest) => unknown;

const STATE_BYTES = 256 * 1024;
const PAGE_MAX = 1000;
const LOAD_MAX = 1000;

function hostsIn(service: AnyService): ProgramHosts | null {
  return service[HOSTS];
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
    contexts: monitor.busy.top(limitIn(query), query.get("text") ?? ""),
  }),
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
    const contexts = page.addresses.map((each): ShownChild => {
      return { address: each, host: hosts?.where(each) ?? null, busy: monitor.busy.of(each) };
    });
    return { contexts, hasMore: page.hasMore };
  },
  "GET state": async ({ service, query, about }) => {
    const address = text(query.get("address"), "address");
    mayShow(about, inspectorOf(service).outline(address).className, address);
    return { address, state: JSON.parse(await inspectorOf(service).state(address, STATE_BYTES)) as unknown };
  },
  "GET cluster": async ({ about }) => ({ cluster: (await about.cluster?.()) ?? null }),
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
  "GET events": ({ monitor, query }) => ({
    events: monitor.recent.list({
      text: query.get("text") ?? "",
      failedOnly: query.get("failed") === "true",
      limit: limitIn(query),
    }),
  }),
  "GET event": ({ service, monitor, query }) => {
    const story = monitor.recent.story(
      text(query.get("node"), "node"),
      integer(query.get("ticket"), "ticket"),
    );
    if (story === null)
      throw new HeadwaterError("HW-4004", "the event is not among the last ones that are remembered.");
    return { ...story, changed: inspectorOf(service).changedBy(story.event.node, story.event.ticket) };
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
