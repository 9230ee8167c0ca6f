/**
 * A component that runs a query, by the naive evaluator. It keeps all rows that came, and answers now and then: how many
 * rows there are by then is chance, as in any streaming engine. A row that it answered once is not taken back, so its
 * output is whatever was in the answer at some time when it answered.
 *
 * A table that the query does not read is the one that asks (figure 6 at the reporting server): a request stays open, and
 * is answered with the rows that agree with it in the columns that both have.
 */

import type { Scalar } from "../sql/ast.js";
import { evaluateQuery } from "../sql/evaluate.js";
import { parseQuery } from "../sql/parse.js";
import { resolveQuery } from "../sql/resolve.js";
import type { DataRecord, RunnableComponent } from "./component.js";
import { canonical } from "./records.js";

type SqlRecord = Readonly<Record<string, Scalar>>;

interface Kept {
  readonly rows: Readonly<Record<string, readonly SqlRecord[]>>;
  /** How often each record was given out. */
  readonly given: ReadonlyMap<string, number>;
}

export async function sqlComponent(
  sql: string,
  tables: Readonly<Record<string, readonly string[]>>,
  to: string,
): Promise<RunnableComponent<Kept>> {
  const query = resolveQuery(await parseQuery(sql), sql, tables);
  const names = query.plan.columns;
  const asking = Object.keys(tables).find((table) => !query.scanned.includes(table));
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
    initial: () => ({ rows: {}, given: new Map() }),
    receive: ({ rows, given }, input, record) => {
      const row = record as SqlRecord;
      return { state: { rows: { ...rows, [input]: [...(rows[input] ?? []), row] }, given } };
    },
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
