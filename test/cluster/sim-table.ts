import type { Member } from "#src/cluster/member.js";
import type { Background } from "#src/journal/logged-journal.js";
import { SortedMap } from "#src/journal/sorted-map.js";
import type { FollowedLog, FollowedTableOptions } from "#src/journal/stream/followed-table.js";
import { LogFollower } from "#src/journal/stream/log-follower.js";
import type { LogPort } from "#src/journal/stream/log-port.js";
import { readSnapshot } from "#src/journal/stream/snapshot.js";
import type { Random } from "#src/random.js";
import type { ClusterPlant } from "./sim-cluster.js";

type Entry = readonly [key: string, value: Uint8Array];

/** What a process has in its file: all keys as of one position. */
export interface Disk {
  file: { readonly entries: readonly Entry[]; readonly position: number } | null;
  /** Kept by mistake. */
  memory?: MemoryTable;
}

class MemoryTable {
  readonly #map = new SortedMap<Uint8Array>();
  readonly bytesInMemory = 0;

  get(key: string): Uint8Array | undefined {
    return this.#map.get(key);
  }

  *range(prefix: string, after = ""): Iterable<[string, Uint8Array]> {
    yield* this.#map.from(prefix, after);
  }

  set(key: string, value: Uint8Array | null): void {
    if (value === null) this.#map.delete(key);
    else this.#map.set(key, value);
  }

  async close(): Promise<void> {}
}

/** Now and then, the file gets what the table has when the log has it, too. */
class SimBackground implements Background {
  readonly isWorthwhile = false;
  #frozen: readonly Entry[] | null = null;

  constructor(
    readonly disk: Disk,
    readonly table: MemoryTable,
    readonly random: Random,
  ) {}

  isQuiet(): boolean {
    return false;
  }

  isDue(): boolean {
    return this.#frozen === null && this.random.chance(0.1);
  }

  freeze(): void {
    this.#frozen = [...this.table.range("")];
  }

  frozenUpTo(position: number): void {
    if (this.#frozen !== null) this.disk.file = { entries: this.#frozen, position };
    this.#frozen = null;
  }

  written(): void {}

  async close(): Promise<void> {}
}

/** Planted: says that it has everything, whether it has or not. */
class HastyFollower extends LogFollower {
  #claimed = 0;
  epochHeard: () => number = () => 0;

  override caughtUp(position: number): Promise<void> {
    this.#claimed = position;
    return Promise.resolve();
  }

  override get position(): number {
    return Math.max(this.#claimed ?? 0, super.position);
  }

  override get progress() {
    const { epoch, number } = super.progress;
    return { epoch: Math.max(epoch, this.epochHeard()), number };
  }
}

function* copied(entries: Iterable<Entry>): Iterable<[key: string, value: Uint8Array]> {
  for (const [key, value] of entries) yield [key, value];
}

/** As `FollowedTable.open`, with a table in memory and a file that is simulated. */
export async function openSimTable(
  port: LogPort,
  options: FollowedTableOptions,
  disk: Disk,
  random: Random,
  plant: ClusterPlant | null,
  member: () => Member | null,
): Promise<FollowedLog> {
  const kept = plant === "overlay kept" ? disk.memory : undefined;
  const table = kept ?? new MemoryTable();
  const background = new SimBackground(disk, table, random);
  if (options.isAnew) disk.file = null;
  const restored: Entry[] = [];
  const snapshot = await readSnapshot(port, disk.file?.position ?? -1, (key, value) =>
    restored.push([key, value]),
  );
  const { file } = disk;
  if (kept === undefined) {
    for (const [key, value] of snapshot === null ? (file?.entries ?? []) : restored) table.set(key, value);
  }
  disk.memory = table;
  let bytes = 0;
  const make = plant === "lagging table" ? HastyFollower : LogFollower;
  const reader = {
    write: (key: string, value: Buffer | null) => {
      table.set(key, value);
      options.tap?.write(key, value);
    },
    applied: (position: number, length: number) => {
      options.tap?.applied(position);
      bytes += length;
      if (!background.isDue()) return;
      background.freeze();
      background.frozenUpTo(position);
    },
    epoch: (epoch: number, owner: string) => options.onEpoch?.(epoch, owner),
    failed: (what: string) => options.onFailure?.(what),
  };
  const follower = new make(
    port,
    snapshot?.position ?? file?.position ?? 0,
    reader,
    snapshot?.progress ?? null,
  );
  if (follower instanceof HastyFollower) follower.epochHeard = () => member()?.epoch ?? 0;
  return {
    table,
    background,
    follower,
    get bytes() {
      return bytes;
    },
    get stored() {
      const { file } = disk;
      return file === null ? null : { position: file.position, range: () => copied(file.entries) };
    },
    release: () => follower.stop(),
    close: async () => follower.stop(),
  };
}
