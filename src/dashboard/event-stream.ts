import type { AnyService } from "../host/service.js";
import { type DroppedFact, type EventFact, type Observation, placeIn } from "../observe/index.js";
import type { StreamService, TenantStreams } from "../streams/index.js";
import type { DashboardStreams } from "./streams.js";

const TENANT = "default";
const STREAM = "events";

const COLUMNS = {
  at: "timestamp",
  node: "text",
  ticket: "bigint",
  context: "text",
  place: "text",
  method: "text",
  started_by: "text",
  ok: "boolean",
  error: "text?",
  host: "bigint?",
  attempts: "bigint",
  waited_ms: "double precision",
  ran_ms: "double precision",
  journaled_ms: "double precision",
  total_ms: "double precision",
} as const;

/** Standing queries that are there from the start. */
const QUERIES = {
  busiest: `SELECT window_start, place, method, count(*) AS events, avg(total_ms) AS mean_ms, max(total_ms) AS worst_ms
  FROM TUMBLE(events, at, INTERVAL '2 seconds')
 GROUP BY window_start, window_end, place, method`,
  failures: "SELECT at, context, method, error FROM events WHERE NOT ok",
} as const;

const PUSH_MS = 200;
/** Of one push. A program that settles more events in that time has the rest left out, and a page could not show them either. */
const ROWS_MAX = 5000;
/** Events are observed for so long after a page has last looked. */
const LINGER_MS = 60_000;
/** Facts of one moment reach the stream within this time. */
const LATENESS_MS = 500;

/**
 * The events of a program as a stream that standing queries can be registered over, from the page. It is a view of the running program and no
 * part of it: it is kept in memory, is gone with the process, and takes rows only while a page looks at streams. What must not be missed
 * belongs into queries of the program itself (`headwater/queries`).
 */
export class EventStream implements DashboardStreams {
  readonly #program: Pick<AnyService, "observe">;
  #opened: Promise<{ service: StreamService; streams: TenantStreams }> | null = null;
  #observation: Observation | null = null;
  #pushing: ReturnType<typeof setInterval> | null = null;
  #ending: ReturnType<typeof setTimeout> | null = null;
  #rows: ReturnType<typeof rowOf>[] = [];
  #isPushing = false;

  constructor(program: Pick<AnyService, "observe">) {
    this.#program = program;
  }

  async service(): Promise<StreamService> {
    this.#opened ??= open();
    const { service, streams } = await this.#opened;
    this.#look(streams);
    return service;
  }

  async close(): Promise<void> {
    this.#stop();
    const opened = this.#opened;
    this.#opened = null;
    await (await opened)?.service.close();
  }

  #look(streams: TenantStreams): void {
    if (this.#ending !== null) clearTimeout(this.#ending);
    if (this.#opened === null) return;
    this.#ending = setTimeout(() => this.#stop(), LINGER_MS).unref();
    if (this.#observation !== null) return;
    this.#observation = this.#program.observe(["event"], (fact) => this.#take(fact));
    this.#pushing = setInterval(() => void this.#push(streams), PUSH_MS).unref();
  }

  #stop(): void {
    this.#observation?.stop();
    this.#observation = null;
    if (this.#pushing !== null) clearInterval(this.#pushing);
    if (this.#ending !== null) clearTimeout(this.#ending);
    this.#rows = [];
  }

  #take(fact: EventFact | DroppedFact): void {
    if (fact.kind === "event" && this.#rows.length < ROWS_MAX) this.#rows.push(rowOf(fact));
  }

  async #push(streams: TenantStreams): Promise<void> {
    if (this.#rows.length === 0 || this.#isPushing) return;
    const rows = this.#rows;
    this.#rows = [];
    this.#isPushing = true;
    // Refused rows are left out like rows that are too many: the stream may have been deregistered from the page.
    await streams.pushEvents(STREAM, rows as never).catch(() => {});
    this.#isPushing = false;
  }
}

async function open(): Promise<{ service: StreamService; streams: TenantStreams }> {
  const { StreamService: Class } = await import("../streams/index.js");
  const service = await Class.open();
  const streams = await service.tenant(TENANT);
  await streams.registerStream(STREAM, COLUMNS, { time: { column: "at", latenessMs: LATENESS_MS } });
  for (const [name, sql] of Object.entries(QUERIES)) await streams.registerQuery(name, sql);
  return { service, streams };
}

function rowOf(fact: EventFact) {
  const { node, ticket, context, method, ok, error, host, attempts } = fact;
  return {
    ...{ at: fact.atMs, node, ticket, context, place: placeIn(context), method },
    ...{ started_by: fact.startedBy, ok, error, host, attempts },
    ...{ waited_ms: fact.waitedMs, ran_ms: fact.ranMs, journaled_ms: fact.journaledMs },
    total_ms: fact.totalMs,
  };
}
