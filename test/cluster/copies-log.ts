import assert from "node:assert/strict";
import { CopiedFields } from "#src/cluster/copied-fields.js";
import { HotCopies } from "#src/cluster/copies.js";
import { EngineCopy } from "#src/cluster/engine-copy.js";
import { NamedPlace } from "#src/cluster/place.js";
import { FrameBuffer } from "#src/journal/log/frame.js";
import { SortedMap } from "#src/journal/sorted-map.js";
import { LogFollower } from "#src/journal/stream/log-follower.js";
import { epochMessage, sealed } from "#src/journal/stream/messages.js";
import { Random } from "#src/random.js";
import { FINE, SimLog, SimStream } from "#src/sim/world/sim-log.js";
import { checkpointValue } from "#src/state/owned-store.js";
import { Batch, column, encodeBatch } from "#src/streams/columns/index.js";
import { type Command, DEFAULT_RETENTION, encodeCommand, GraphEngine } from "#src/streams/graph/index.js";
import { followAll } from "./copies-plants.js";
import Boards from "./programs/boards.js";

const SCHEMA = [column("k", "text"), column("v", "int")];
const PREFIX = 'd/Boards/Boards.boards("a")\0engine\0';
const HEADS = 8;
const STREAM: Command = {
  kind: "define stream",
  definition: {
    ...{ kind: "stream", name: "s", columns: SCHEMA, key: [], time: null, eventId: null },
    retention: DEFAULT_RETENTION,
  },
};

type Writes = Map<string, Uint8Array | null>;

class Table {
  readonly #map = new SortedMap<Uint8Array>();

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
}

/** An engine with its records, as the head of an epoch has it. */
class HeadEngine {
  readonly engine: GraphEngine;
  position: number;
  checkpoints = 0;
  #behind: number;

  constructor(copy: EngineCopy | null, behind: number) {
    this.engine = (copy?.engine as GraphEngine | undefined) ?? new GraphEngine();
    this.position = copy?.position ?? 0;
    this.#behind = behind;
  }

  /** What an event that applies a record writes, with a checkpoint before it. */
  writes(record: Uint8Array, withCheckpoint: boolean): Writes {
    const writes: Writes = new Map();
    const key = (position: number) => `${PREFIX}r${String(position).padStart(16, "0")}`;
    if (withCheckpoint && this.position > 0) {
      for (const [name, part] of this.engine.checkpoint()) writes.set(`${PREFIX}p${name}`, part);
      for (; this.#behind < this.position; this.#behind++) writes.set(key(this.#behind + 1), null);
      writes.set(`${PREFIX}k`, checkpointValue(this.position, 1));
      this.checkpoints += 1;
    }
    this.engine.apply(record);
    this.position += 1;
    writes.set(key(this.position), record);
    writes.set(`${PREFIX}g`, checkpointValue(this.position, this.engine.digest));
    return writes;
  }

  get behind(): number {
    return this.#behind;
  }
}

/**
 * A log that several heads have written, one after the other, each of which has written on for a while after its epoch had ended. A copy that
 * was made at some moment and was fed from the log, and the engine of the last head.
 */
export async function writtenBySeveralHeads(seed: number, plant: "void messages" | null = null) {
  const random = new Random(seed);
  const stream = new SimStream();
  const later = (_what: string, happen: () => void) => void setImmediate(happen);
  const port = new SimLog(stream, FINE, random.fork(), later, (happen) => {
    const timer = setImmediate(happen);
    return () => clearImmediate(timer);
  });
  const fields = new CopiedFields([NamedPlace.root("Boards", Boards)]);
  const [field] = fields.at(`${PREFIX}g`) ?? [];
  assert.ok(field);
  let diverged = 0;
  let now = 0;
  const copies = new HotCopies({
    ...{ member: "standby", fields, replicas: 2, now: () => now, every: () => () => {} },
    onWarning: () => {
      diverged += 1;
    },
  });
  const table = new Table();
  copies.follow(table);
  const reader = (tap: Pick<HotCopies, "write" | "applied"> | null) => ({
    write: (key: string, value: Buffer | null) => {
      table.set(key, value);
      tap?.write(key, value);
    },
    applied: (position: number) => tap?.applied(position),
    epoch: () => {},
    failed: (what: string) => assert.fail(what),
  });
  const follower = new LogFollower(port, 0, reader(plant === null ? copies : null));
  if (plant !== null) followAll(port, copies);
  const land = (bytes: Buffer) => stream.land(stream.messages.length + 1, bytes);
  const record = () => {
    const rows = Array.from(
      { length: 1 + random.int(4) },
      () => [`k${random.int(9)}`, random.int(100)] as const,
    );
    const push = { stream: "s", producer: "", sequence: null, key: null };
    return encodeCommand({ kind: "push", pushes: [{ ...push, batch: encodeBatch(Batch.of(SCHEMA, rows)) }] });
  };
  const groups = (head: HeadEngine, epoch: number, first: number, count: number) => {
    for (let i = 0; i < count; i++) {
      const frame = new FrameBuffer();
      // Of several events, some groups come together.
      for (let events = 1 + random.int(3); events > 0; events--) {
        const given = head.position === 0 ? encodeCommand(STREAM) : record();
        const writes = head.writes(given, random.chance(0.15));
        frame.addAll([...writes].map(([key, value]) => ({ key, value })));
      }
      land(
        sealed("group", Buffer.from(frame.content), { epoch, number: first + i }, stream.messages.length + 1),
      );
    }
    return first + count;
  };
  let [checkpoints, behind] = [0, 0];
  let head = new HeadEngine(null, 0);
  let number = 0;
  for (let epoch = 1; epoch <= HEADS; epoch++) {
    land(epochMessage({ attempt: String(epoch), member: "x" }, epoch, stream.messages.length + 1));
    // The one before does not know yet.
    if (epoch > 1) groups(head, epoch - 1, number, random.int(3));
    await follower.caughtUp(stream.messages.length);
    now += 2000;
    copies.heard({ member: "standby", epoch: 0, position: 0, state: "standby", program: "" });
    copies.look();
    const next = EngineCopy.of(field, table);
    behind = Number([...table.range(`${PREFIX}r`)][0]?.[0].slice(-16) ?? behind + 1) - 1;
    head = new HeadEngine(next, behind);
    number = groups(head, epoch, 1, 3 + random.int(6));
    checkpoints += head.checkpoints;
  }
  await follower.caughtUp(stream.messages.length);
  await new Promise<void>((resolve) => setImmediate(resolve));
  follower.stop();
  const copy = copies.of(field.context, "engine");
  const { engine, position } = head;
  return {
    copy: copy === null ? null : { position: copy.position, digest: copy.engine.digest },
    engine: { position, digest: engine.digest },
    ...{ diverged, checkpoints, made: copies.about().made },
  };
}
