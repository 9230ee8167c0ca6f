import { join } from "node:path";
import type { KeyTable } from "../journal.js";
import type { AppliedTable, Background } from "../logged-journal.js";
import { failed } from "../problems.js";
import { CARRY_OVER_LIMITS, CarryOver, type CarryOverLimits } from "../table/carry-over.js";
import { findGenerations } from "../table/generations.js";
import { JournalTable, type StoredTable } from "../table/table.js";
import { type GroupReader, LogFollower } from "./log-follower.js";
import type { LogPort } from "./log-port.js";
import { readSnapshot, type Snapshot } from "./snapshot.js";

/** Hears everything that is read from a log, in its order: of each message all writes, and then that they were applied. */
export interface LogTap {
  write(key: string, value: Uint8Array | null): void;
  applied(position: number): void;
}

export interface FollowedTableOptions {
  /** As it is shown. */
  readonly address: string;
  /** Where its files are: a cache, from which the log has to be read again only behind the last file. One process uses it. */
  readonly directory: string;
  /** Its files are not used: the log was cut behind what they have. */
  readonly isAnew?: boolean | undefined;
  readonly carryOver?: Partial<CarryOverLimits> | undefined;
  readonly tap?: LogTap | undefined;
  readonly onWarning?: ((text: string) => void) | undefined;
  /** A member has begun an epoch. */
  readonly onEpoch?: ((epoch: number, member: string) => void) | undefined;
  /** The log cannot be followed any further. */
  readonly onFailure?: ((what: string) => void) | undefined;
}

/** What follows a log and keeps what it adds up to. */
export interface FollowedLog {
  readonly table: AppliedTable & KeyTable;
  readonly background: Background & { isQuiet(): boolean; readonly isWorthwhile: boolean };
  readonly follower: LogFollower;
  /** What its file has, which the log has, too; null if there is none. */
  readonly stored: StoredTable | null;
  /** Bytes of the log that were read since the table was opened. */
  readonly bytes: number;
  /** Follows no more: what is in the table is all that it will be told. */
  release(): void;
  close(): Promise<void>;
}

/**
 * The table of a process that follows a log. It has only what counts in the log, so it can be handed to a writer once it has everything;
 * a writer that is fenced throws its table away, because that may have groups which no log has, and opens the files again.
 */
export class FollowedTable implements FollowedLog {
  readonly table: JournalTable;
  readonly background: CarryOver;
  readonly follower: LogFollower;
  #bytes = 0;

  private constructor(
    port: LogPort,
    table: JournalTable,
    snapshot: Snapshot | null,
    options: FollowedTableOptions,
  ) {
    const { address, directory, carryOver, onWarning, onEpoch, onFailure, tap } = options;
    this.table = table;
    const background = new CarryOver({
      directory: tableIn(directory),
      journal: port.id,
      epoch: 0,
      table,
      // The files are this process's own, and one process's table is no reason to cut the log.
      log: { check: () => null, cut: () => {} },
      logBytes: 0,
      limits: { ...CARRY_OVER_LIMITS, ...carryOver },
      onTrouble: (error) => {
        const what = failed(address, "bringing its table up to date", error).message;
        onWarning?.(`${what} It is tried again; until then, memory keeps everything.`);
      },
    });
    this.background = background;
    const begin = snapshot?.position ?? table.generation?.applied ?? 0;
    const reader: GroupReader = {
      write: (key, value) => {
        table.set(key, value);
        tap?.write(key, value);
      },
      applied: (position, bytes) => {
        tap?.applied(position);
        this.#bytes += bytes;
        background.written(bytes);
        if (!background.isDue()) return;
        background.freeze();
        background.frozenUpTo(position);
      },
      epoch: (epoch, member) => onEpoch?.(epoch, member),
      failed: (what) => onFailure?.(what),
    };
    this.follower = new LogFollower(port, begin, reader, snapshot?.progress ?? null);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get stored(): StoredTable | null {
    return this.table.stored;
  }

  static async open(port: LogPort, options: FollowedTableOptions): Promise<FollowedTable> {
    const { newest: found, damages } = await findGenerations(tableIn(options.directory), port.id);
    const newest = options.isAnew ? null : found;
    for (const what of damages)
      options.onWarning?.(`${options.address}: ${what}; it is made again from the log`);
    const keys: [key: string, value: Buffer][] = [];
    const snapshot = await readSnapshot(port, newest?.applied ?? -1, (key, value) => keys.push([key, value]));
    const table = new JournalTable(options.directory, snapshot === null ? newest : null);
    for (const [key, value] of keys) table.set(key, value);
    return new FollowedTable(port, table, snapshot, options);
  }

  release(): void {
    this.follower.stop();
  }

  async close(): Promise<void> {
    this.follower.stop();
    await this.background.close();
    await this.table.close();
  }
}

function tableIn(directory: string): string {
  return join(directory, "table");
}
