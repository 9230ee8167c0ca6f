import { Batch, type Cell, encodeBatch, encodeRows, rowsIn, type Schema } from "../columns/index.js";
import { isRefused, type Push, type PushAnswer } from "../graph/index.js";
import type { Described } from "./describe.js";
import type { PushOptions } from "./options.js";
import { encodedKeys } from "./seals.js";

/** More rows are a batch of their own. */
const FEW_ROWS = 64;
const CELL_BYTES = 10;

/** Rows as they come: of a program, of a reader, or as columns in bytes. */
export type GivenRows = readonly (readonly Cell[])[] | Batch | Buffer;

/** A few rows of a caller that numbers nothing, for a stream that takes each row as it is: they may share a batch with others. */
export interface LooseRows {
  readonly stream: string;
  readonly schema: Schema;
  readonly rows: readonly (readonly Cell[])[];
  /** What they take as columns, about. */
  readonly bytes: number;
}

export type RowsToPush = Push | LooseRows;

export function countOf(rows: GivenRows): number {
  return rows instanceof Batch ? rows.rows : Buffer.isBuffer(rows) ? rowsIn(rows) : rows.length;
}

export function sizeOf(rows: RowsToPush): number {
  return "bytes" in rows ? rows.bytes : rows.batch.length + (rows.seals?.length ?? 0);
}

/** Where the stream is not known here, the graph says so; seals are of a stream that is known. */
export function rowsToPush(
  stream: string,
  known: Described | undefined,
  given: GivenRows,
  { producer, sequence, key, seals = [] }: PushOptions,
): RowsToPush {
  const isNumbered =
    producer !== undefined || sequence !== undefined || key !== undefined || seals.length > 0;
  if (known !== undefined && !isNumbered && takesRowsAsTheyAre(known) && !Buffer.isBuffer(given)) {
    const count = countOf(given);
    if (count > 0 && count <= FEW_ROWS) return looseRows(stream, known.columns, given);
  }
  return {
    ...{ stream, producer: producer ?? "", sequence: sequence ?? null, key: key ?? null },
    batch: encoded(given, known?.columns ?? []),
    ...(known === undefined || seals.length === 0 ? {} : { seals: encodedKeys(known, seals) }),
  };
}

function takesRowsAsTheyAre({ kind, seals, hasEventIds }: Described): boolean {
  return kind === "stream" && seals === null && !hasEventIds;
}

function looseRows(stream: string, schema: Schema, given: Exclude<GivenRows, Buffer>): LooseRows {
  const rows = given instanceof Batch ? Array.from({ length: given.rows }, (_, i) => given.row(i)) : given;
  let bytes = 0;
  for (const row of rows)
    for (const cell of row) bytes += CELL_BYTES + (typeof cell === "string" ? cell.length : 0);
  return { stream, schema, rows, bytes };
}

function encoded(given: GivenRows, schema: Schema): Buffer {
  if (Buffer.isBuffer(given)) return given;
  return given instanceof Batch ? encodeBatch(given) : encodeRows(schema, given);
}

/** Where the answer to a push stands, and how many rows before its own have the same. */
interface Place {
  readonly at: number;
  readonly before: number;
  /** `null` if the answer is its own. */
  readonly rows: number | null;
}

/** Loose rows that follow each other. */
interface Joined {
  readonly stream: string;
  readonly schema: Schema;
  readonly rows: (readonly Cell[])[];
}

/** What a round takes: loose rows of a stream that follow each other are one batch, written and read once. */
export class RoundPushes {
  readonly pushes: readonly Push[];
  readonly #places: Place[] = [];

  constructor(given: readonly RowsToPush[]) {
    const batches: (Push | Joined)[] = [];
    for (const each of given) {
      if ("bytes" in each) this.#join(each, batches);
      else this.#places.push({ at: batches.push(each) - 1, before: 0, rows: null });
    }
    this.pushes = batches.map((each) => ("schema" in each ? pushOf(each) : each));
  }

  #join({ stream, schema, rows }: LooseRows, batches: (Push | Joined)[]): void {
    const last = batches.at(-1);
    if (last !== undefined && "schema" in last && last.stream === stream && last.schema === schema) {
      this.#places.push({ at: batches.length - 1, before: last.rows.length, rows: rows.length });
      last.rows.push(...rows);
    } else
      this.#places.push({
        ...{ at: batches.push({ stream, schema, rows: [...rows] }) - 1, before: 0 },
        rows: rows.length,
      });
  }

  /** The answer to each that was given. */
  answers(answers: readonly PushAnswer[]): (PushAnswer | undefined)[] {
    return this.#places.map(({ at, before, rows }) => {
      const answer = answers[at];
      if (answer === undefined || isRefused(answer) || rows === null) return answer;
      return { ...answer, first: answer.first + before, rows };
    });
  }
}

function pushOf({ stream, schema, rows }: Joined): Push {
  return { stream, producer: "", sequence: null, key: null, batch: encodeRows(schema, rows) };
}
