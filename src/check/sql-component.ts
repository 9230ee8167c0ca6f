/**
 * A component that runs a query, by the naive evaluator. It keeps all rows that came, and answers now and then: how many
 * rows there are by then is chance, as in any streaming engine. A row that it answered once is not taken back, so its
 * output is whatever was in the answer at some time when it answered.
 *
 * A query that is asked answers each request when it comes, with the rows that there are; an open request is kept, and
 * answered with what is new (figure 6 at the reporting server). A request gets the rows that agree with it in the columns
 * that both have, or those for its parameters.
 */

import { DEFAULT_REQUEST, type DeriveOptions, refuseUnread } from "../analysis/sql/derive.js";
import { evaluateQuery, parseQuery, resolveQuery, type Scalar } from "../sql/index.js";
import type { DataRecord, Reaction, RunnableComponent } from "./component.js";
import { canonical } from "./records.js";

const ROWS_MAX = 2000;

type SqlRecord = Readonly<Record<string, Scalar>>;

interface Kept {
  readonly rows: Readonly<Record<string, readonly SqlRecord[]>>;
  /** How often each record was given out. */
  readonly given: ReadonlyMap<string, number>;
}

function receiveMany({ rows, given }: Kept, input: string, record: DataRecord, times: number) {
  const row = record as SqlRecord;
  const more = [...(rows[input] ?? []), ...Array.from({ length: times }, () => row)];
  return { state: { rows: { ...rows, [input]: more }, given } };
}

export async function sqlComponent(
  sql: string,
  tables: Readonly<Record<string, readonly string[]>>,
  to: string,
  { request, openRequests = false }: Pick<DeriveOptions, "request" | "openRequests"> = {},
): Promise<RunnableComponent<Kept>> {
  const query = resolveQuery(await parseQuery(sql), sql, tables);
  refuseUnread(query, request);
  const names = query.plan.columns.map(({ name }) => name);
  const asking = request ?? (query.usesParameters ? DEFAULT_REQUEST : undefined);
  const isRead = asking !== undefined && query.scanned.includes(asking);
  const numbers = numbersIn(query.plan).flatMap((number) => [number, number + 1]);
  const asRecord = (row: readonly Scalar[]): DataRecord =>
    Object.fromEntries(names.map((name, i) => [name, row[i] ?? null]));

  const answerOf = (rows: Kept["rows"]): DataRecord[] => {
    if (asking === undefined || isRead) return evaluateQuery(query, rows).map(asRecord);
    const columns = tables[asking] ?? [];
    const requests = rows[asking] ?? [];
    const shared = query.usesParameters ? [] : columns.filter((column) => names.includes(column));
    const all = query.usesParameters ? [] : evaluateQuery(query, rows).map(asRecord);
    return requests.flatMap((request) => {
      const parameters = columns.map((column) => request[column] ?? null);
      const answer = query.usesParameters ? evaluateQuery(query, rows, parameters).map(asRecord) : all;
      return answer.filter((record) => shared.every((column) => record[column] === request[column]));
    });
  };

  const react = (kept: Kept, input: string, record: DataRecord, times: number): Reaction<Kept> => {
    const { state } = receiveMany(kept, input, record, times);
    if (input !== asking || openRequests) return { state };
    const alone = { ...kept.rows, [asking]: [record as SqlRecord] };
    return { state: kept, emit: answerOf(alone).map((each) => [to, each] as const) };
  };

  const answer = ({ rows, given }: Kept): Reaction<Kept> => {
    const left = new Map(given);
    const total = new Map(given);
    const emit: [string, DataRecord][] = [];
    const wanted = new Map<string, number>();
    for (const record of answerOf(rows)) {
      const key = canonical(record);
      wanted.set(key, (wanted.get(key) ?? 0) + 1);
      const before = left.get(key) ?? 0;
      if (before > 0) left.set(key, before - 1);
      else emit.push([to, record]);
    }
    for (const [key, times] of wanted) total.set(key, Math.max(times, given.get(key) ?? 0));
    return { state: { rows, given: total }, emit };
  };

  return {
    sizes: (input) => (input === asking ? [1] : numbers),
    initial: () => ({ rows: {}, given: new Map() }),
    receive: (kept, input, record) => react(kept, input, record, 1),
    receiveMany: react,
    // A query that answers each request once says nothing of itself.
    ...(asking === undefined || openRequests ? { answer } : {}),
    view: ({ rows }) =>
      Object.fromEntries(Object.entries(rows).map(([table, list]) => [table, list.map(canonical).sort()])),
  };
}

/** Numbers in a query are where its answers change, so that many equal rows tell more than few. */
function numbersIn(part: unknown): number[] {
  if (typeof part !== "object" || part === null) return [];
  if ("kind" in part && part.kind === "constant" && "value" in part) {
    const { value } = part;
    return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= ROWS_MAX
      ? [value]
      : [];
  }
  return [...new Set(Object.values(part).flatMap(numbersIn))];
}
