import type { Log } from "../log/log.js";
import type { Background } from "../logged-journal.js";
import type { SortedMap } from "../sorted-map.js";
import { buildTable, type Changed } from "./build.js";
import { type Generation, removeOthers } from "./generations.js";
import type { OverlayEntry } from "./overlay.js";
import { SortedRuns } from "./runs.js";
import type { JournalTable } from "./table.js";

/** When what is in memory goes into the table's file. */
export interface CarryOverLimits {
  /** Keys, and bytes, in memory that the file does not have yet. */
  readonly keys: number;
  readonly bytes: number;
  /** Bytes of the log that an opening has to read; at least as many as the table's file has, since that is copied. */
  readonly logBytes: number;
  /** After a pause of `idleMs` without appends, as little as this is enough. */
  readonly idleLogBytes: number;
  readonly idleMs: number;
}

/** They bound the memory, and the log that an opening has to read, which takes well below a second. */
export const CARRY_OVER_LIMITS: CarryOverLimits = {
  keys: 262_144,
  bytes: 64 * 2 ** 20,
  logBytes: 64 * 2 ** 20,
  idleLogBytes: 4 * 2 ** 20,
  idleMs: 1000,
};

export interface CarryOverParts {
  readonly directory: string;
  readonly journal: string;
  readonly epoch: number;
  readonly table: JournalTable;
  readonly log: Pick<Log, "check" | "cut">;
  /** Bytes of the log that the table's file does not have. */
  readonly logBytes: number;
  readonly limits: CarryOverLimits;
  readonly onTrouble: (error: unknown) => void;
}

interface Layer {
  readonly entries: SortedMap<OverlayEntry>;
  last: number;
}

const RETRY_MS = 1000;

/**
 * Writes what the log holds into the next file of the table, in the background, and cuts the log. A layer is frozen with a frame
 * and written when the log has that frame, so a file never has what the log may lose. If it cannot be written, for lack
 * of room, it is tried again, and the log goes on growing meanwhile.
 */
export class CarryOver implements Background {
  readonly #parts: CarryOverParts;
  #layer: Layer | null = null;
  #building: Promise<void> | null = null;
  #logBytes: number;
  #retry: NodeJS.Timeout | null = null;
  #isClosed = false;
  #hasTold = false;
  #isQuiet = true;

  constructor(parts: CarryOverParts) {
    this.#parts = parts;
    this.#logBytes = parts.logBytes;
  }

  isDue(): boolean {
    if (this.#layer !== null) return false;
    const { table, limits } = this.#parts;
    return (
      table.recentKeys >= limits.keys ||
      table.recentBytes >= limits.bytes ||
      this.#logBytes >= Math.max(limits.logBytes, table.generation?.bytes ?? 0)
    );
  }

  /** Is it worth while in a pause? */
  get isWorthwhile(): boolean {
    const { table, limits } = this.#parts;
    return this.#layer === null && table.recentKeys > 0 && this.#logBytes >= limits.idleLogBytes;
  }

  freeze(): void {
    this.#layer = { entries: this.#parts.table.freeze(), last: 0 };
    this.#logBytes = 0;
  }

  frozenUpTo(sequence: number): void {
    if (this.#layer === null || this.#isClosed) return;
    this.#layer.last = sequence;
    this.#build(this.#layer);
  }

  written(bytes: number): void {
    this.#logBytes += bytes;
    this.#isQuiet = false;
  }

  /** Whether nothing was written since this was asked last. */
  isQuiet(): boolean {
    const isQuiet = this.#isQuiet;
    this.#isQuiet = true;
    return isQuiet;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#building;
  }

  #build(layer: Layer): void {
    const { directory, journal, epoch, table, onTrouble } = this.#parts;
    const from = table.generation;
    const changes = changesOf(layer.entries);
    this.#building = buildTable({ directory, journal, epoch, from, applied: layer.last, changes })
      .then((generation) => this.#built(generation, from))
      .catch((error: unknown) => {
        if (!this.#hasTold) onTrouble(error);
        this.#hasTold = true;
        if (!this.#isClosed) this.#retry = setTimeout(() => this.#build(layer), RETRY_MS).unref();
      });
  }

  #built(generation: Generation, before: Generation | null): void {
    const { directory, table, log } = this.#parts;
    if (log.check() !== null) return; // A successor decides what is kept.
    table.replace(generation);
    this.#layer = null;
    this.#hasTold = false;
    removeOthers(directory, before === null ? [generation] : [generation, before]);
    log.cut(before?.applied ?? 0);
  }
}

function* changesOf(layer: SortedMap<OverlayEntry>): Iterable<Changed | undefined> {
  const keys = new SortedRuns(layer.keys());
  while (keys.prepare()) yield undefined;
  for (let key = keys.take(); key !== undefined; key = keys.take()) {
    yield { key, value: layer.get(key)?.value ?? null };
  }
}
