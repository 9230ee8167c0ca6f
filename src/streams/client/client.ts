import { HeadwaterError } from "../../errors.js";
import { errorFrom } from "../../protocol/index.js";
import type {
  AnyRow,
  NumberedRow,
  PushedRow,
  PushReceipt,
  ResultRow,
  RowToPush,
  StreamColumns,
  StreamId,
  StreamRow,
} from "../typed/index.js";
import type { DescribedStream, QueryChoices, Range, StreamChoices, TokenChoices } from "./choices.js";
import { Producer, type SealedKey } from "./producer.js";
import { RegisteredDoors, RegisteredOutputs } from "./registered.js";
import { type ClientOptions, StreamRequests } from "./requests.js";
import { eventsOf } from "./sse.js";

/** The streams and queries of one tenant, in a service elsewhere. */
export class StreamsClient {
  readonly #requests: StreamRequests;
  /** Where rows go by themselves, and where they come from. */
  readonly outputs: RegisteredOutputs;
  readonly sources: RegisteredDoors;

  constructor(url: string, options: ClientOptions) {
    this.#requests = new StreamRequests(url, options);
    this.outputs = new RegisteredOutputs(this.#requests);
    this.sources = new RegisteredDoors(this.#requests, "sources");
  }

  /** Registers a stream, or a table if it has a key. Returns its id, which knows the types of its rows. */
  async registerStream<const C extends StreamColumns>(
    name: string,
    columns: C,
    options: StreamChoices = {},
  ): Promise<StreamId<StreamRow<C>, RowToPush<C>>> {
    return await this.#register("/v1/streams", { ...options, name, columns });
  }

  /** Registers a standing query. Returns the id of its output stream, typed if `columns` says which it has. */
  async registerQuery<const C extends StreamColumns = never>(
    name: string,
    sql: string,
    options: QueryChoices & { readonly columns?: C } = {},
  ): Promise<StreamId<[C] extends [never] ? AnyRow : StreamRow<C>>> {
    return await this.#register("/v1/queries", { ...options, name, sql });
  }

  /** Registers a stream, a table or a materialized view by its SQL, or a query by a SELECT and its name. Returns its id. */
  async define<R = AnyRow, P = AnyRow>(
    sql: string,
    options: QueryChoices & { readonly name?: string } = {},
  ): Promise<StreamId<R, P>> {
    return await this.#register("/v1/sql", { ...options, sql });
  }

  async #register<R, P>(path: string, body: object): Promise<StreamId<R, P>> {
    const response = await this.#requests.once({ method: "POST", path, body: JSON.stringify(body) });
    return ((await response.json()) as { readonly id: string }).id as StreamId<R, P>;
  }

  /** Removes a stream or a query. Refused with the list of users if it is in use. */
  async deregister(name: string): Promise<void> {
    await this.#requests.once({ method: "DELETE", path: `/v1/streams/${encodeURIComponent(name)}` });
  }

  /** The plan of a query, its partitions, its label and its coordination with the reason: of a name, or of a SELECT. */
  async explain(text: string): Promise<string> {
    const body = JSON.stringify({ sql: `EXPLAIN ${text}` });
    const { explain } = await this.#requests.json<{ readonly explain: string }>({
      ...{ method: "POST", path: "/v1/sql", body },
    });
    return explain;
  }

  /** Lets other tenants read a stream, a table, a view or a query: in their queries it is `TENANT.NAME`. */
  async share(name: string, tenants: readonly string[] | "all"): Promise<void> {
    const path = `/v1/streams/${encodeURIComponent(name)}/share`;
    await this.#requests.json({ method: "PUT", path, body: JSON.stringify({ with: tenants }) });
  }

  /** Ends that. Refused with the list of tenants that read it. */
  async unshare(name: string): Promise<void> {
    await this.#requests.json({ method: "DELETE", path: `/v1/streams/${encodeURIComponent(name)}/share` });
  }

  /** What other tenants share with this one, by the names that it has in queries. */
  async shared(): Promise<readonly Pick<DescribedStream, "name" | "kind" | "columns">[]> {
    type Shared = { readonly streams: readonly Pick<DescribedStream, "name" | "kind" | "columns">[] };
    return (await this.#requests.json<Shared>({ method: "GET", path: "/v1/shared" })).streams;
  }

  async list(): Promise<readonly DescribedStream[]> {
    const { streams } = await this.#requests.json<{ readonly streams: readonly DescribedStream[] }>({
      method: "GET",
      path: "/v1/streams",
    });
    return streams;
  }

  async describe(name: string): Promise<DescribedStream> {
    return await this.#requests.json({ method: "GET", path: `/v1/streams/${encodeURIComponent(name)}` });
  }

  /** Pushes rows, once: sent again after a lost connection, they are recognised by a key of their own. */
  async pushEvents<S extends string>(stream: S, rows: readonly PushedRow<S>[]): Promise<PushReceipt> {
    return await this.pushNdjson(stream, linesOf(rows));
  }

  /** A producer that numbers its batches. Two processes must not use one name at the same time. */
  producer<S extends string>(stream: S, name: string): Producer<PushedRow<S>> {
    const begin = async () => {
      const { producers } = await this.describe(stream);
      return (producers.find((each) => each.name === name)?.sequence ?? -1) + 1;
    };
    return new Producer(begin, async (rows, sequence, seals) => {
      if (rows.length > 0 || seals.length === 0)
        return await this.pushNdjson(stream, linesOf(rows), { producer: name, sequence, seals });
      const body = JSON.stringify({ producer: name, sequence, partitions: seals });
      const path = `/v1/streams/${encodeURIComponent(stream)}/seal`;
      return await this.#requests.json({ method: "POST", path, body });
    });
  }

  /** Pushes lines of JSON as they are, once. */
  async pushNdjson(
    stream: string,
    lines: string,
    options: NumberedBatch | null = null,
  ): Promise<PushReceipt> {
    const { query, headers } = numbered(options);
    const path = `/v1/streams/${encodeURIComponent(stream)}/events${query}`;
    return await this.#requests.json({ method: "POST", path, body: lines, headers });
  }

  /** No row of this producer is older than `upTo` from now on; without it, the producer sends nothing more. */
  async seal(stream: string, producer = "", upTo: number | null = null): Promise<void> {
    const path = `/v1/streams/${encodeURIComponent(stream)}/seal`;
    await this.#requests.json({ method: "POST", path, body: JSON.stringify({ producer, upTo }) });
  }

  /** Declares who contributes to the partitions of a stream from now on. */
  async declareProducers(stream: string, producers: readonly string[]): Promise<void> {
    const path = `/v1/streams/${encodeURIComponent(stream)}/producers`;
    await this.#requests.json({ method: "PUT", path, body: JSON.stringify({ producers }) });
  }

  /** Resolves when a partition is sealed; refused if it is not within the time. */
  async sealed(name: string, partition: SealedKey, waitMs = 0): Promise<void> {
    const query = new URLSearchParams({ partition: JSON.stringify(partition), wait: String(waitMs) });
    await this.#requests.once({
      method: "GET",
      path: `/v1/streams/${encodeURIComponent(name)}/partition?${query}`,
    });
  }

  /** Rows from a number on as they come, until the signal; by default rows that come from now on. Lost connections are resumed. */
  async *subscribe<S extends string>(
    stream: S,
    { from, signal }: { readonly from?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<NumberedRow<ResultRow<S>>> {
    let at = from ?? (await this.describe(stream)).next;
    const isOver = () => signal?.aborted === true;
    for (let attempt = 0; !isOver(); attempt++) {
      try {
        for await (const row of this.#connected<ResultRow<S>>(stream, at, signal)) {
          at = row.number + 1;
          attempt = -1;
          yield row;
        }
      } catch (error) {
        if (isOver()) return;
        if (error instanceof HeadwaterError && !RESUMED.includes(error.code)) throw error;
      }
      await this.#requests.pause(Math.max(0, attempt), signal);
    }
  }

  async *#connected<R>(
    stream: string,
    from: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<NumberedRow<R>> {
    const response = await this.#requests.retried({
      method: "GET",
      path: `/v1/streams/${encodeURIComponent(stream)}/results?from=${from}&decimals=text`,
      headers: { accept: "text/event-stream" },
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.body === null) return;
    for await (const { id, event, data } of eventsOf(response.body)) {
      if (event === "error") throw errorFrom((JSON.parse(data) as { readonly error?: unknown }).error);
      yield { number: Number(id), weight: event === "retract" ? -1 : 1, row: JSON.parse(data) as R };
    }
  }

  /** The rows of a table or a view by key: from one to another, both included; shorter bounds are prefixes. */
  async readView<S extends string>(name: S, { from, to, limit }: Range = {}): Promise<ResultRow<S>[]> {
    const query = new URLSearchParams();
    for (const bound of from ?? []) query.append("from", String(bound));
    for (const bound of to ?? []) query.append("to", String(bound));
    if (limit !== undefined) query.set("limit", String(limit));
    const path = `/v1/views/${encodeURIComponent(name)}?${query}`;
    return (await this.#requests.json<{ readonly rows: ResultRow<S>[] }>({ method: "GET", path })).rows;
  }

  /** A new token of this tenant. It is shown once. */
  async addToken(choices: TokenChoices): Promise<string> {
    const body = JSON.stringify(choices);
    const response = await this.#requests.once({ method: "POST", path: "/v1/tokens", body });
    return ((await response.json()) as { readonly token: string }).token;
  }

  async tokens(): Promise<readonly (TokenChoices & { readonly id: string })[]> {
    type Tokens = { readonly tokens: readonly (TokenChoices & { readonly id: string })[] };
    return (await this.#requests.json<Tokens>({ method: "GET", path: "/v1/tokens" })).tokens;
  }

  /** Makes a tenant, for operators. Returns its first token, which is shown once. */
  async addTenant(name: string, quotas: Readonly<Record<string, number>> = {}): Promise<string> {
    const body = JSON.stringify({ name, quotas });
    const response = await this.#requests.once({ method: "POST", path: "/v1/tenants", body });
    return ((await response.json()) as { readonly token: string }).token;
  }

  /** Revokes a token, and closes the connections that it keeps open. */
  async revokeToken(id: string): Promise<void> {
    await this.#requests.once({ method: "DELETE", path: `/v1/tokens/${encodeURIComponent(id)}` });
  }
}

/** The server is restarting or was at fault: a subscriber comes again. */
const RESUMED: readonly string[] = ["HW-1401", "HW-4040", "HW-9001"];

/** Which batch of which producer it is. */
export interface NumberedBatch {
  readonly producer: string;
  readonly sequence: number;
  /** The partitions that the producer seals behind the rows. */
  readonly seals?: readonly SealedKey[];
}

/** A batch without a number gets a key of its own: sent again, it is recognised. */
function numbered(batch: NumberedBatch | null) {
  if (batch === null) return { query: "", headers: { "idempotency-key": crypto.randomUUID() } };
  const { producer, sequence, seals = [] } = batch;
  const query = new URLSearchParams({ producer, sequence: String(sequence) });
  for (const seal of seals) query.append("seal", JSON.stringify(seal));
  return { query: `?${query}`, headers: {} };
}

function linesOf(rows: readonly unknown[]): string {
  return rows.map((row) => JSON.stringify(row, exactly)).join("\n");
}

/** JSON has no word for a bigint; decimals are taken as texts. */
function exactly(_: string, value: unknown): unknown {
  if (typeof value !== "bigint") return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
