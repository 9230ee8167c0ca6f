import type { OperatorState } from "../tables/index.js";

/** How much of one piece of state was written, and as how many parts. */
interface Written {
  readonly state: OperatorState;
  baseBytes: number;
  deltaBytes: number;
  deltas: number;
}

/**
 * The state of a query as named parts: `<number of the state>/base`, and `<number>/<n>` for what changed after it. Deltas are
 * replaced by a new base when together they are larger than the base, so all parts take at most twice what is kept, and each
 * change is written a bounded number of times.
 */
export class Checkpoints {
  readonly #written: Written[];

  constructor(states: readonly OperatorState[]) {
    this.#written = states.map((state) => ({ state, baseBytes: -1, deltaBytes: 0, deltas: 0 }));
  }

  get memoryBytes(): number {
    return this.#written.reduce((sum, { state }) => sum + state.memoryBytes, 0);
  }

  take(): [string, Buffer | null][] {
    return this.#written.flatMap((written, number) => changed(written, number));
  }

  load(parts: Iterable<readonly [string, Uint8Array]>): void {
    const found = new Map<number, { place: number; bytes: Buffer }[]>();
    for (const [name, bytes] of parts) {
      const [number = "", part = ""] = name.split("/");
      const list = found.get(Number(number)) ?? [];
      found.set(Number(number), list);
      list.push({
        place: part === "base" ? 0 : Number(part),
        bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      });
    }
    for (const [number, written] of this.#written.entries()) {
      const own = (found.get(number) ?? []).sort((a, b) => a.place - b.place);
      for (const { place, bytes } of own) {
        written.state.load(bytes);
        if (place === 0) written.baseBytes = bytes.length;
        else written.deltaBytes += bytes.length;
        written.deltas = Math.max(written.deltas, place);
      }
    }
  }
}

function changed(written: Written, number: number): [string, Buffer | null][] {
  const { state } = written;
  const isRebased = written.baseBytes < 0 || state.isRebased === true;
  const delta = isRebased ? null : state.delta();
  if (!isRebased && delta === null) return [];
  if (delta !== null && written.deltaBytes + delta.length <= written.baseBytes) {
    written.deltaBytes += delta.length;
    written.deltas++;
    return [[`${number}/${written.deltas}`, delta]];
  }
  const base = state.base();
  const dropped = Array.from({ length: written.deltas }, (_, i): [string, null] => [
    `${number}/${i + 1}`,
    null,
  ]);
  Object.assign(written, { baseBytes: base.length, deltaBytes: 0, deltas: 0 });
  return [[`${number}/base`, base], ...dropped];
}
