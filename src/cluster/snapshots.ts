import type { FollowedLog } from "../journal/stream/followed-table.js";
import type { LogPort } from "../journal/stream/log-port.js";
import { lastSnapshot, progressAt, writeSnapshot } from "../journal/stream/snapshot.js";

export interface SnapshotsParts {
  readonly port: LogPort;
  /** One is due when so many bytes of the log were read or written since the last one, or since the table was opened. */
  readonly snapshotBytes: number;
  readonly onWarning: (text: string) => void;
}

/**
 * Makes snapshots when they are due. The first of the standbys does, since its table has only what counts, and no caller waits for it. If there is
 * none, the head does: what its table has in memory may be in no log, so its snapshot is of the table's file.
 */
export class Snapshots {
  readonly #parts: SnapshotsParts;
  #isMaking = false;
  /** How many bytes there were when the last one began. */
  #lastAt = 0;
  /** Of the file that was looked at last. */
  #looked = -1;

  constructor(parts: SnapshotsParts) {
    this.#parts = parts;
  }

  /** The table was opened anew. */
  begin(): void {
    this.#lastAt = 0;
    this.#looked = -1;
  }

  ofStandby(followed: FollowedLog, isOver: () => boolean): void {
    const { port } = this.#parts;
    const { bytes, table, follower } = followed;
    if (!this.#isDue(bytes)) return;
    this.#lastAt = bytes;
    this.#make(isOver, () => writeSnapshot(port, table, follower.complete, isOver));
  }

  /** `written`: how many bytes this process has written as the head. */
  ofHead(followed: FollowedLog, written: number, isOver: () => boolean): void {
    const bytes = followed.bytes + written;
    const { stored } = followed;
    if (stored === null || stored.position === this.#looked || !this.#isDue(bytes)) return;
    const { position } = stored;
    this.#looked = position;
    this.#make(isOver, async () => {
      const { port } = this.#parts;
      const [last, progress] = [await lastSnapshot(port), await progressAt(port, position)];
      const now = followed.stored; // the file may have been replaced meanwhile
      if (position <= last || now?.position !== position || progress === null) return;
      if ((await writeSnapshot(port, now, { position, progress }, isOver)) !== null) this.#lastAt = bytes;
    });
  }

  #isDue(bytes: number): boolean {
    return !this.#isMaking && bytes - this.#lastAt >= this.#parts.snapshotBytes;
  }

  #make(isOver: () => boolean, make: () => Promise<unknown>): void {
    this.#isMaking = true;
    make()
      .catch((error: unknown) => {
        if (!isOver())
          this.#parts.onWarning(`a snapshot could not be made, and is tried again later: ${error}`);
      })
      .finally(() => {
        this.#isMaking = false;
      });
  }
}
