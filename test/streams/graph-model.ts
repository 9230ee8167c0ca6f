import type { Cell } from "#src/streams/columns/index.js";

/** Rows of the one schema that the model's streams and queries have: id, v, t. */
export type Row = readonly [id: string | null, v: number | null, t: number];

/** `SELECT id, v + add AS v, t FROM input WHERE v % modulus <> 0` */
export interface Filter {
  readonly add: number;
  readonly modulus: number;
}

interface Stream {
  readonly kind: "stream";
  readonly dedup: boolean;
  readonly rows: Row[];
  readonly first: number;
  readonly batches: Map<string, { last: number; answers: Map<number, Answer> }>;
  readonly keys: Map<string, { readonly text: string; readonly answer: Answer }>;
  readonly ids: Set<string>;
}

interface Query {
  readonly kind: "query";
  readonly input: string;
  readonly filter: Filter;
  readonly rows: Row[];
  readonly first: number;
}

export type Answer =
  | {
      readonly first: number;
      readonly rows: number;
      readonly duplicates: number;
      readonly isRepeated: boolean;
    }
  | { readonly code: string };

export interface ModelPush {
  readonly stream: string;
  readonly producer: string;
  readonly sequence: number | null;
  readonly key: string | null;
  readonly rows: readonly Row[];
}

/** What a graph does, by the book: everything is kept, and each query is a function over rows. */
export class GraphModel {
  readonly nodes = new Map<string, Stream | Query>();
  readonly #retired = new Map<string, number>();

  defineStream(name: string, dedup: boolean): string | null {
    if (this.nodes.has(name)) return "HW-5402";
    const first = this.#retired.get(name) ?? 1;
    this.nodes.set(name, {
      kind: "stream",
      dedup,
      rows: [],
      first,
      batches: new Map(),
      keys: new Map(),
      ids: new Set(),
    });
    return null;
  }

  defineQuery(name: string, input: string, filter: Filter, backfill: boolean): string | null {
    if (this.nodes.has(name)) return "HW-5402";
    const source = this.nodes.get(input);
    if (source === undefined) return "HW-5401";
    const rows = backfill ? source.rows.flatMap((row) => filtered(row, filter)) : [];
    this.nodes.set(name, { kind: "query", input, filter, rows, first: this.#retired.get(name) ?? 1 });
    return null;
  }

  remove(name: string): string | null {
    const node = this.nodes.get(name);
    if (node === undefined) return "HW-5401";
    for (const other of this.nodes.values())
      if (other.kind === "query" && other.input === name) return "HW-5404";
    this.nodes.delete(name);
    if (node.first + node.rows.length > 1) this.#retired.set(name, node.first + node.rows.length);
    return null;
  }

  push({ stream, producer, sequence, key, rows }: ModelPush): Answer {
    const node = this.nodes.get(stream);
    if (node?.kind !== "stream") return { code: "HW-5401" };
    const kept = key === null ? undefined : node.keys.get(key);
    if (kept !== undefined)
      return kept.text === JSON.stringify(rows)
        ? ({ ...kept.answer, isRepeated: true } as Answer)
        : { code: "HW-4019" };
    const numbered = node.batches.get(producer);
    if (sequence !== null && numbered !== undefined) {
      const known = numbered.answers.get(sequence);
      if (known !== undefined && sequence > numbered.last - 8)
        return { ...known, isRepeated: true } as Answer;
      if (sequence !== numbered.last + 1) return { code: "HW-5407" };
    }
    const fresh = rows.filter(([id]) => {
      if (!node.dedup || id === null) return true;
      const isNew = !node.ids.has(id);
      node.ids.add(id);
      return isNew;
    });
    const answer = {
      first: node.first + node.rows.length,
      rows: fresh.length,
      duplicates: rows.length - fresh.length,
      isRepeated: false,
    };
    this.#arrive(stream, fresh);
    if (key !== null) node.keys.set(key, { text: JSON.stringify(rows), answer });
    if (sequence !== null) {
      const own = numbered ?? { last: sequence, answers: new Map<number, Answer>() };
      node.batches.set(producer, own);
      own.last = sequence;
      own.answers.set(sequence, answer);
    }
    return answer;
  }

  #arrive(name: string, rows: readonly Row[]): void {
    const node = this.nodes.get(name);
    if (node === undefined || rows.length === 0) return;
    node.rows.push(...rows);
    for (const [reader, query] of this.nodes)
      if (query.kind === "query" && query.input === name)
        this.#arrive(
          reader,
          rows.flatMap((row) => filtered(row, query.filter)),
        );
  }
}

function filtered([id, v, t]: Row, { add, modulus }: Filter): Row[] {
  return v === null || v % modulus === 0 ? [] : [[id, v + add, t]];
}

export function rowOf(cells: readonly Cell[]): Row {
  return [cells[0] as string | null, cells[1] as number | null, cells[2] as number];
}
