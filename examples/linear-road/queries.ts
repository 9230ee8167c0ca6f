import { openStreams } from "headwater/streams";
import type { Outcome, PastToll, Second } from "./records.js";
import { DEFINITIONS, INPUTS } from "./sql.js";

/** What is told, and the query that tells it. */
const TOLD_BY = {
  tolls: "tolls",
  accidents: "alerts",
  balances: "balances",
  expenditures: "expenditures",
} as const;

type OpenOptions = Parameters<typeof openStreams>[0];
type Streams = Awaited<ReturnType<typeof openStreams>>;

/** The road as standing queries. */
export class QueriedRoad {
  #batches = 0;
  /** The number of the first result that was not read yet. */
  readonly #next = { tolls: 1, accidents: 1, balances: 1, expenditures: 1 };

  private constructor(readonly streams: Streams) {}

  /** Closes it and opens its journal again, as after a restart. */
  async reopened(options: OpenOptions): Promise<QueriedRoad> {
    await this.close();
    const road = new QueriedRoad(await openStreams(options));
    Object.assign(road.#next, this.#next);
    road.#batches = this.#batches;
    return road;
  }

  static async open(history: readonly PastToll[], options: OpenOptions = {}): Promise<QueriedRoad> {
    const streams = await openStreams(options);
    for (const sql of INPUTS) await streams.define(sql);
    for (const [name, sql] of DEFINITIONS)
      await streams.define(sql, sql.startsWith("CREATE") ? {} : { name });
    for (let from = 0; from < history.length; from += 1000)
      await streams.pushEvents("history", history.slice(from, from + 1000));
    return new QueriedRoad(streams);
  }

  /** Pushes one second, and adds what is told to the outcome. */
  async drive({ time, reports, balances, expenditures }: Second, outcome: Outcome): Promise<void> {
    const at = 1000 * time;
    // A minute ends before the reports behind it are looked at.
    await this.streams.seal("reports", "roadside", at);
    const rows = reports.map(({ time: _, ...report }) => ({ at, ...report }));
    if (rows.length > 0)
      await this.streams.pushEvents("reports", rows, { producer: "roadside", sequence: ++this.#batches });
    await this.#ask(
      "balance_requests",
      balances.map(({ vid, id }) => ({ vid, id })),
    );
    await this.#ask(
      "expenditure_requests",
      expenditures.map(({ vid, id, xway, day }) => ({ vid, id, xway, day })),
    );
    await this.#read("tolls", outcome.tolls);
    await this.#read("accidents", outcome.accidents);
    await this.#read("balances", outcome.balances);
    await this.#read("expenditures", outcome.expenditures);
  }

  async close(): Promise<void> {
    await this.streams.service.close();
  }

  async #ask(stream: string, requests: readonly Record<string, number>[]): Promise<void> {
    if (requests.length > 0) await this.streams.pushEvents(stream, requests);
  }

  /** The results that have come since the last time. */
  async #read<R>(name: keyof Outcome, into: R[]): Promise<void> {
    for (;;) {
      const { rows } = await this.streams.page(TOLD_BY[name], this.#next[name]);
      if (rows.length === 0) return;
      for (const { json } of rows) into.push(JSON.parse(json) as R);
      this.#next[name] += rows.length;
    }
  }
}
