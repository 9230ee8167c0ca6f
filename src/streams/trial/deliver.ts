import type { Random } from "../../random.js";
import { Batch, encodeBatch } from "../columns/index.js";
import {
  encodeCommand,
  GraphEngine,
  keySchema,
  type QueryDefinition,
  type StreamDefinition,
  stamp,
} from "../graph/index.js";
import { EVENTS, NAMES, PRODUCERS, type Sent } from "./generate.js";

/** Rows of one producer that are pushed together; sent again, they are the same batch. */
interface Batched {
  readonly rows: readonly Sent[];
  readonly sequence: number;
}

/** What a query has given: the sum of it, and all that it ever added. */
export interface Given {
  readonly sum: string;
  readonly added: string;
  readonly isFinal: boolean;
}

/** At most so many rows are in a batch. */
const BATCH_ROWS = 3;

/** An order of all rows in which those of a producer keep theirs. Up to `burst` rows of one producer follow each other. */
export function interleaved(sent: readonly Sent[], random: Random, burst = 1): Sent[] {
  const queues = NAMES.flatMap((name) =>
    PRODUCERS.map((producer) => sent.filter((row) => row.stream === name && row.producer === producer)),
  );
  const order: Sent[] = [];
  for (let left = queues.filter((queue) => queue.length > 0); left.length > 0; ) {
    const queue = random.pick(left);
    order.push(...queue.splice(0, 1 + random.int(burst)));
    left = left.filter((each) => each.length > 0);
  }
  return order;
}

/**
 * Runs the queries over rows that come in this order, cut into batches and repeated as `random` decides, with restarts from what the
 * last checkpoints have written.
 */
export function deliver(
  streams: readonly StreamDefinition[],
  definitions: readonly QueryDefinition[],
  order: readonly Sent[],
  random: Random,
  batchRows = BATCH_ROWS,
): ReadonlyMap<string, Given> {
  let engine = new GraphEngine();
  const parts = new Map<string, Uint8Array>();
  let timeMs = 1;
  const carryOut = (command: Parameters<typeof encodeCommand>[0]) =>
    engine.apply(stamp(encodeCommand(command), timeMs++));
  for (const definition of streams) carryOut({ kind: "define stream", definition });
  for (const definition of definitions) carryOut({ kind: "define query", definition });
  const restart = () => {
    for (const [name, bytes] of engine.checkpoint())
      if (bytes === null) parts.delete(name);
      else parts.set(name, Buffer.from(bytes));
    engine = new GraphEngine();
    engine.load(parts);
  };
  const seals = sealsAmong(streams, order, random);
  const push = ({ rows, sequence }: Batched, stream: string, producer: string) => {
    const batch = encodeBatch(
      Batch.of(
        EVENTS,
        rows.map(({ cells }) => cells),
      ),
    );
    const sealed = rows.flatMap((row) => seals.get(row) ?? []);
    const sealing = sealed.length === 0 ? {} : { seals: encodeBatch(Batch.of(keyOf(streams), sealed)) };
    carryOut({ kind: "push", pushes: [{ stream, producer, sequence, key: null, batch, ...sealing }] });
  };
  // An empty batch makes a producer known: from then on, the watermark waits for it.
  const next = new Map<string, number>();
  for (const name of NAMES)
    for (const producer of PRODUCERS) {
      push({ rows: [], sequence: 1 }, name, producer);
      next.set(`${name} ${producer}`, 2);
    }
  for (let i = 0; i < order.length; ) {
    const { stream, producer } = order[i] as Sent;
    const wanted = 1 + random.int(batchRows);
    let end = i + 1;
    while (end < i + wanted && order[end]?.stream === stream && order[end]?.producer === producer) end++;
    const rows = order.slice(i, end);
    const own = `${stream} ${producer}`;
    const sequence = next.get(own) ?? 2;
    next.set(own, sequence + 1);
    for (let times = random.chance(0.2) ? 2 : 1; times > 0; times--)
      push({ rows, sequence }, stream, producer);
    if (random.chance(0.05)) restart();
    i += rows.length;
  }
  for (const stream of NAMES)
    for (const producer of PRODUCERS) carryOut({ kind: "seal", stream, producer, upTo: null });
  return new Map(definitions.map(({ name }) => [name, givenBy(engine, name)]));
}

function keyOf(streams: readonly StreamDefinition[]) {
  return keySchema(EVENTS, streams[0]?.seals?.columns ?? []);
}

/**
 * The partitions that a producer seals behind a row. It may seal one behind its last row of it or behind any later row; what it
 * leaves open is sealed with the whole stream.
 */
function sealsAmong(
  streams: readonly StreamDefinition[],
  order: readonly Sent[],
  random: Random,
): ReadonlyMap<Sent, Sent["cells"][]> {
  const columns = streams[0]?.seals?.columns ?? [];
  const seals = new Map<Sent, Sent["cells"][]>();
  if (columns.length === 0) return seals;
  for (const stream of NAMES)
    for (const producer of PRODUCERS) {
      const own = order.filter((row) => row.stream === stream && row.producer === producer);
      const named = ({ cells }: Sent) => columns.map((index) => cells[index] ?? null);
      const last = new Map(own.map((row, i) => [JSON.stringify(named(row)), i]));
      for (const i of last.values()) {
        const behind = own[i + random.int(own.length - i + 1)];
        const row = own[i];
        if (behind !== undefined && row !== undefined)
          seals.set(behind, [...(seals.get(behind) ?? []), named(row)]);
      }
    }
  return seals;
}

function givenBy(engine: GraphEngine, name: string): Given {
  const channel = engine.nodes.channel(name);
  const sum = new Map<string, number>();
  const added: string[] = [];
  let isFinal = true;
  for (const segment of channel?.log.all ?? []) {
    const batch = channel?.rowsOf(segment);
    for (let i = 0; i < (batch?.rows ?? 0); i++) {
      const [row, weight] = [JSON.stringify(batch?.row(i)), batch?.weight(i) ?? 0];
      sum.set(row, (sum.get(row) ?? 0) + weight);
      if (weight > 0) for (let times = weight; times > 0; times--) added.push(row);
      else isFinal = false;
    }
  }
  const left = [...sum].filter(([, weight]) => weight !== 0).map(([row, weight]) => `${weight} ${row}`);
  return { sum: left.sort().join("\n"), added: added.sort().join("\n"), isFinal };
}
