import type { Coordination } from "../analysis/index.js";
import type { Block, Chance, CheckedComponent, Data } from "./component.js";

/** The blocks in another order, some of them in pieces: the same records, delivered otherwise. */
export function shuffled(blocks: readonly Block[], chance: Chance): Block[] {
  const pieces = blocks.flatMap((block) => {
    if (block.times < 2 || chance.int(2) === 0) return [block];
    const first = 1 + chance.int(block.times - 1);
    return [
      { ...block, times: first },
      { ...block, times: block.times - first },
    ];
  });
  for (let i = pieces.length - 1; i > 0; i--) {
    const j = chance.int(i + 1);
    const [a, b] = [pieces[i], pieces[j]];
    if (a !== undefined && b !== undefined) [pieces[i], pieces[j]] = [b, a];
  }
  return pieces;
}

/** Equal records together. */
export function merged(blocks: readonly Block[]): Block[] {
  const kinds = new Map<string, Block>();
  for (const block of blocks) {
    const name = `${block.input} ${showRecord(block.record)}`;
    const known = kinds.get(name);
    kinds.set(name, known === undefined ? block : { ...known, times: known.times + block.times });
  }
  return [...kinds.values()];
}

/** Some blocks come once more, over inputs where repetition must not show. */
export function repeated(blocks: readonly Block[], inputs: ReadonlySet<string>, chance: Chance): Block[] {
  return blocks.flatMap((block) =>
    inputs.has(block.input) && chance.int(3) === 0 ? [block, { ...block, times: 1 }] : [block],
  );
}

/**
 * What a component gets of a delivery if it waits for seals: a sealed partition as a whole, once all of it has come, and
 * what comes over other inputs when the partitions that it belongs to are complete.
 */
export function held(delivery: readonly Block[], sealed: ReadonlyMap<string, readonly string[]>): Block[] {
  const missing = new Map<string, number>();
  const partitions = new Map<string, { values: Data; blocks: Block[] }>();
  for (const { input, record, times } of delivery) {
    const key = sealed.get(input);
    if (key === undefined) continue;
    const values = valuesOf(record, key);
    const name = JSON.stringify([input, values]);
    missing.set(name, (missing.get(name) ?? 0) + times);
    partitions.set(name, { values, blocks: [] });
  }
  const out: Block[] = [];
  let waiting: Block[] = [];
  const mayGo = ({ record }: Block) =>
    [...missing].every(([name, count]) => count === 0 || !agree(record, partitions.get(name)?.values ?? {}));
  const release = () => {
    out.push(...waiting.filter(mayGo));
    waiting = waiting.filter((block) => !mayGo(block));
  };
  for (const block of delivery) {
    const key = sealed.get(block.input);
    if (key === undefined) {
      waiting.push(block);
      release();
      continue;
    }
    const name = JSON.stringify([block.input, valuesOf(block.record, key)]);
    const partition = partitions.get(name);
    partition?.blocks.push(block);
    missing.set(name, (missing.get(name) ?? 0) - block.times);
    if (missing.get(name) !== 0 || partition === undefined) continue;
    // Always in the same order and the same pieces: that is what waiting for all of it was good for.
    const whole = merged(partition.blocks);
    out.push(...whole.sort((a, b) => (showRecord(a.record) < showRecord(b.record) ? -1 : 1)));
    release();
  }
  return out;
}

function valuesOf(record: Data, key: readonly string[]): Data {
  return Object.fromEntries(key.map((name) => [name, record[name]]));
}

function agree(record: Data, values: Data): boolean {
  return Object.entries(values).every(([name, value]) => !(name in record) || record[name] === value);
}

/** What comes out in the end, as a set: order and repetition of outputs are not what is compared. */
export function outcome(component: CheckedComponent, delivery: readonly Block[]): string[] {
  const instance = component.start();
  const sent = new Set<string>();
  const take = (all: ReturnType<typeof instance.receive>) => {
    for (const { to, record } of all) sent.add(`${to} ${showRecord(record)}`);
  };
  for (const { input, record, times } of delivery) take(instance.receive(input, record, times));
  take(instance.finish?.() ?? []);
  return [...sent].sort();
}

/** The same text for equal records, in whatever order their fields were written. */
export function showRecord(record: Data): string {
  return JSON.stringify(record, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The inputs to hold and the keys to hold them by, under a coordination of seals. */
export function sealedInputs(
  coordination: Coordination,
  inputOf: (stream: string) => string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const inputs = new Map<string, readonly string[]>();
  if (coordination.kind !== "seal") return inputs;
  for (const { name, seal } of coordination.streams) {
    const input = inputOf(name);
    // Under a watermark, or several keys: whoever waits for all of the input has waited for each part of it.
    if (input !== undefined) inputs.set(input, seal.prefix || inputs.has(input) ? [] : seal.key);
  }
  return inputs;
}
