import type { OwnedEngine } from "../../model/owned.js";
import { Batch, decodeBatch } from "../columns/index.js";
import { type Carried, GraphEngine } from "../graph/index.js";
import { fingerprintOf, type NodeDefinition, type Planned } from "./plan.js";
import { decodeRecord, type Pushed } from "./records.js";
import { presentIn, upgrade } from "./upgrade.js";
import { viewedOnly } from "./viewed-only.js";

const TIME_PART = "time";
/** So many rows wait at most for the next look at a view. */
const WAITING_MAX = 1024;
const NOTHING: Carried = { refused: null, answers: [], grown: new Map() };

/**
 * The graph of a context of the program. Its records are rows, ticks, and the definitions of the class whenever they are others
 * than before, so that a replay goes through the same versions of the program.
 *
 * Rows of a stream that leads to views only are logged at once, but go through the queries when a view is looked at next: many
 * events share a round then. When that is does not depend on the records alone, so it must not matter: see `viewedOnly`.
 */
export class ProgramEngine implements OwnedEngine<Carried> {
  readonly #graph = new GraphEngine();
  /** The definitions that the graph was built by, as its records say. */
  #recorded = "";
  /** The same, when they were compared last: they are long. */
  #recordedBy: Planned | null = null;
  /** The definitions that it is built by now. */
  #present = "";
  #seenBy: Planned | null = null;
  /** The time of the last record, for what happens without one. */
  #timeMs = 0;
  /** The streams whose rows may wait. */
  #viewedOnly: ReadonlySet<string> = new Set();
  #waiting: Pushed[] = [];
  #waitingRows = 0;

  get memoryBytes(): number {
    return this.#graph.memoryBytes;
  }

  /** Has a record said that the graph is built by these definitions? */
  isRecorded(planned: Planned): boolean {
    if (this.#recordedBy === planned) return true;
    if (this.#recorded !== planned.fingerprint) return false;
    this.#recordedBy = planned;
    return true;
  }

  /**
   * The graph with all rows in it. A reader sees it by the definitions of its class, also before a record says so: a read-only
   * method cannot apply one. The first record afterwards has the definitions, so a replay does the same at the same position.
   */
  seenBy(planned: Planned): GraphEngine {
    this.#runWaiting();
    if (this.#seenBy !== planned) {
      this.#become(planned.definitions, planned.fingerprint);
      this.#seenBy = planned;
    }
    return this.#graph;
  }

  apply(record: Uint8Array): Carried {
    const decoded = decodeRecord(record);
    if (decoded.kind === "define") return this.#define(decoded.definitions);
    const { timeMs } = decoded;
    this.#timeMs = timeMs;
    if (decoded.kind === "push") return this.#push(decoded);
    this.#runWaiting();
    return this.#graph.carryOut({ kind: "tick" }, timeMs);
  }

  #push(pushed: Pushed): Carried {
    const { stream, bytes, timeMs } = pushed;
    if (this.#viewedOnly.has(stream)) {
      const read = pushed.rows === null ? { ...pushed, rows: this.#batchOf(pushed) } : pushed;
      const count = Array.isArray(read.rows) ? read.rows.length : (read.rows as Batch).rows;
      this.#graph.log(stream, bytes, count, timeMs);
      this.#waiting.push(read);
      this.#waitingRows += count;
      if (this.#waitingRows >= WAITING_MAX) this.#runWaiting();
      return NOTHING;
    }
    this.#runWaiting();
    const push = { stream, producer: "", sequence: null, key: null, batch: bytes };
    const rows = pushed.rows === null ? {} : { rows: this.#batchOf(pushed) };
    return this.#graph.carryOut({ kind: "push", pushes: [{ ...push, ...rows }] }, timeMs);
  }

  #batchOf({ stream, bytes, rows }: Pushed): Batch {
    const schema = this.#graph.nodes.source(stream)?.definition.columns ?? [];
    if (rows === null)
      return decodeBatch(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), schema);
    return Array.isArray(rows) ? Batch.of(schema, rows) : (rows as Batch);
  }

  /** Lets the rows that wait go through the queries, in one round. */
  #runWaiting(): void {
    if (this.#waitingRows === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingRows = 0;
    const batches: [string, Batch][] = [];
    let open: Batch | null = null; // of rows as they were given
    for (const pushed of waiting) {
      const { stream, rows } = pushed;
      const isGiven = Array.isArray(rows);
      if (!isGiven || open === null || batches.at(-1)?.[0] !== stream) {
        const batch = this.#batchOf(pushed);
        batches.push([stream, batch]);
        open = isGiven ? batch : null;
      } else for (const cells of rows) open.append(cells);
    }
    this.#graph.feed(batches, this.#timeMs);
  }

  #define(definitions: readonly NodeDefinition[]): Carried {
    this.#runWaiting();
    this.#become(definitions, fingerprintOf(definitions));
    this.#recorded = this.#present;
    this.#recordedBy = null;
    return NOTHING;
  }

  #become(definitions: readonly NodeDefinition[], fingerprint: string): void {
    if (this.#present === fingerprint) return;
    upgrade(this.#graph, definitions, this.#timeMs);
    this.#isBuiltBy(fingerprint);
  }

  #isBuiltBy(fingerprint: string): void {
    this.#present = fingerprint;
    this.#seenBy = null;
    this.#viewedOnly = viewedOnly(this.#graph);
  }

  *checkpoint() {
    this.#runWaiting();
    yield [TIME_PART, Buffer.from(String(this.#timeMs))] as const;
    yield* this.#graph.checkpoint();
  }

  load(parts: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    const own = new Map(parts);
    this.#timeMs = Number(Buffer.from(own.get(TIME_PART) ?? []).toString());
    own.delete(TIME_PART);
    this.#graph.load(own);
    this.#recorded = fingerprintOf(presentIn(this.#graph));
    this.#isBuiltBy(this.#recorded);
  }
}
