/**
 * A component that runs a query, by the naive evaluator. It keeps all rows that came, and answers now and then: how many
 * rows there are by then is chance, as in any streaming engine. A row that it answered once is not taken back, so its
 * output is whatever was in the answer at some time when it answered.
 *
 * A table that the query does not read is the one that asks (figure 6 at the reporting server): a request stays open, and
 * is answered with the rows that agree with it in the columns that both have.
 */

import type { Scalar } from "../analysis/sql/ast.js";
import { evaluateQuery } from "../analysis/sql/evaluate.js";
import { parseQuery } from "../analysis/sql/parse.js";
import { resolveQuery } from "../analysis/sql/resolve.js";
import type { DataRecord, RunnableComponent } from "./component.js";
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
): Promise<RunnableComponent<Kept>> {
  const query = resolveQuery(await parseQuery(sql), sql, tables);
  const names = query.plan.columns;
  const asking = Object.keys(tables).find((table) => !query.scanned.includes(table));
  const numbers = numbersIn(query.plan).flatMap((number) => [number, number + 1]);
  const asRecord = (row: readonly Scalar[]): DataRecord =>
    Object.fromEntries(names.map((name, i) => [name, row[i] ?? null]));

  const answerOf = (rows: Kept["rows"]): DataRecord[] => {
    if (asking === undefined) return evaluateQuery(query, rows).map(asRecord);
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

  return {
    sizes: (input) => (input === asking ? [1] : numbers),
    initial: () => ({ rows: {}, given: new Map() }),
    receive: (kept, input, record) => receiveMany(kept, input, record, 1),
    receiveMany,
    answer: ({ rows, given }) => {
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
    },
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
