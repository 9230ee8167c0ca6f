import { queryFunction } from "../analysis/index.js";
import type { Block, Chance, CheckedComponent, Data, Instance, Sent } from "./component.js";

const ROWS_MAX = 3000;
const BLOCKS_MAX = 3;
const VALUES = 2;

export interface Query {
  readonly sql: string;
  readonly tables: Readonly<Record<string, readonly string[]>>;
  readonly to: string;
}

type Scalar = string | number | boolean | null;
type Rows = Readonly<Record<string, Scalar>>;

/**
 * A query as a component. An input that the query does not read asks: it is answered with the rows that agree with it, at
 * once, or when there are some. Without such an input the query gives its answers by itself, while rows arrive.
 */
export async function queryComponent({ sql, tables, to }: Query): Promise<CheckedComponent> {
  const answer = await queryFunction(sql, tables);
  const columns = outputColumns(sql);
  const words = new Set(sql.toLowerCase().match(/\w+/g));
  const asking = Object.keys(tables).find((table) => !words.has(table.toLowerCase())) ?? null;
  const named = (row: readonly unknown[]): Data =>
    Object.fromEntries(row.map((value, i) => [columns[i] ?? `column${i + 1}`, value]));
  return {
    start: () => new QueryInstance((stored) => answer(stored).map(named), asking, to),
    records: (chance) => someRecords(chance, tables, thresholdsIn(sql), asking),
  };
}

class QueryInstance implements Instance {
  readonly #stored: Record<string, Rows[]> = {};
  readonly #unanswered: Data[] = [];

  constructor(
    readonly answer: (stored: Record<string, Rows[]>) => Data[],
    readonly asking: string | null,
    readonly to: string,
  ) {}

  receive(input: string, record: Data, times: number): readonly Sent[] {
    if (input === this.asking) return this.#ask(record);
    const rows = (this.#stored[input] ??= []);
    for (let i = 0; i < times; i++) rows.push(record as Rows);
    return this.asking === null ? this.#all() : [];
  }

  finish(): readonly Sent[] {
    if (this.asking === null) return this.#all();
    return this.#unanswered.splice(0).flatMap((request) => this.#ask(request));
  }

  #all(): Sent[] {
    return this.answer(this.#stored).map((record) => ({ to: this.to, record }));
  }

  #ask(request: Data): Sent[] {
    const rows = this.answer(this.#stored).filter((row) =>
      Object.entries(request).every(([name, value]) => !(name in row) || row[name] === value),
    );
    if (rows.length === 0) this.#unanswered.push(request);
    return rows.map((row) => ({ to: this.to, record: { ...request, ...row } }));
  }
}

/** Numbers in a query are where its answers change, so groups get about as many rows as those. */
function thresholdsIn(sql: string): number[] {
  const numbers = [...sql.matchAll(/\b\d+\b/g)].map(([text]) => Number(text));
  return numbers.filter((number) => number > 0 && number < ROWS_MAX);
}

function someRecords(
  chance: Chance,
  tables: Query["tables"],
  thresholds: readonly number[],
  asking: string | null,
): Block[] {
  const sizes = [1, 2, ...thresholds.flatMap((number) => [number, number + 1])];
  return Object.entries(tables).flatMap(([input, columns]) =>
    Array.from({ length: 1 + chance.int(BLOCKS_MAX) }, (): Block => {
      const record = Object.fromEntries(columns.map((column) => [column, chance.int(VALUES)]));
      return { input, record, times: input === asking ? 1 : (sizes[chance.int(sizes.length)] ?? 1) };
    }),
  );
}

/** The names between SELECT and FROM, as far as they are plain; they are only for showing and for matching requests. */
function outputColumns(sql: string): string[] {
  const list = /\bselect\b(?:\s+distinct\b)?([\s\S]*?)\bfrom\b/i.exec(sql)?.[1] ?? "";
  return list.split(",").map((each) => /(\w+)\W*$/.exec(each)?.[1] ?? each.trim());
}
