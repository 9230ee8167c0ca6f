import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Context } from "headwater";
import type { Ticket } from "#src/core/event.js";
import { Slot } from "#src/host/context/slot.js";
import { HeadLine, HostLine } from "#src/host/wire/line.js";
import type { ToHead, ToHost } from "#src/host/wire/wire.js";
import { Random } from "#src/random.js";

class Root extends Context {
  echo(value: string) {
    return value;
  }
}

/** What the two ends are told (`line.ts`). */
const [BATCH_BYTES, WINDOW, UNREAD_BYTES_MAX] = [2 ** 20, 2, 16 * 2 ** 20];
const VALUE_BYTES_MAX = 3_000_000;
/** What a message has besides its value. */
const BESIDES = 1000;

/** One direction: batches that were posted and have not arrived. */
class Wire {
  readonly batches: Uint8Array[] = [];
  bytes = 0;
  /** The most bytes that were on the way at once, and in one batch. */
  most = 0;
  largest = 0;

  post(batch: Uint8Array): void {
    this.batches.push(batch);
    this.bytes += batch.length;
    this.most = Math.max(this.most, this.bytes);
    this.largest = Math.max(this.largest, batch.length);
  }

  take(): Uint8Array | undefined {
    const batch = this.batches.shift();
    this.bytes -= batch?.length ?? 0;
    return batch;
  }
}

/** A head and a host that answers each event with a text of the length that the event asks for. */
class Ends {
  readonly down = new Wire();
  readonly up = new Wire();
  readonly answered: [ticket: number, length: number][] = [];
  readonly root = new Slot("Root", null, null, undefined, Root);
  readonly head: HeadLine;
  readonly host: HostLine;

  constructor(readonly answerBytes: (ticket: number) => number) {
    const roots = () => new Map([["Root", this.root]]);
    const messageBytes = 2 ** 28;
    this.head = new HeadLine({
      roots,
      messageBytes,
      post: (bytes) => this.down.post(bytes),
      take: (message) => this.#heard(message),
    });
    this.host = new HostLine({
      roots,
      messageBytes,
      post: (bytes) => this.up.post(bytes),
      take: (message) => this.#run(message),
    });
  }

  #run(message: ToHost): void {
    assert.equal(message.kind, "run");
    if (message.kind !== "run") return;
    const { ticket, attempt } = message;
    const value = { value: "v".repeat(this.answerBytes(ticket)) };
    const end = { ok: true, isOver: true, effects: [], writes: [], existing: [] };
    assert.ok(this.host.send({ kind: "finish", node: "Root", ticket, attempt, value, ...end }));
  }

  #heard(message: ToHead): void {
    assert.ok(message.kind === "finish" && "value" in message.value);
    this.answered.push([message.ticket, (message.value.value as string).length]);
  }

  send(ticket: number, bytes: number): void {
    const method = this.root.shape.methods.get("echo");
    assert.ok(method);
    const rest = { caller: null, origin: { kind: "request" }, seen: [], isAlone: true, after: null } as const;
    const args = ["a".repeat(bytes)];
    this.head.send({
      kind: "run",
      slot: this.root,
      method,
      ticket: ticket as Ticket,
      attempt: 1,
      time: 1,
      steadyMs: 1,
      args,
      ...rest,
    });
  }

  arriveDown(): boolean {
    const batch = this.down.take();
    if (batch !== undefined) this.host.receive(batch);
    return batch !== undefined;
  }

  arriveUp(): boolean {
    const batch = this.up.take();
    if (batch !== undefined) this.head.receive(batch);
    return batch !== undefined;
  }

  async settle(): Promise<void> {
    for (let idle = 0; idle < 3; idle++) {
      await turn();
      if (this.arriveDown() || this.arriveUp()) idle = -1;
    }
  }
}

const lengthOf = (random: Random) =>
  Math.floor(10 ** (random.int(1000 * Math.log10(VALUE_BYTES_MAX)) / 1000));

test("whatever is sent arrives in order, and no more is on the way than may be", async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed);
    const lengths = new Map<number, number>();
    const ends = new Ends((ticket) => lengths.get(ticket) ?? 0);
    const tickets = Array.from({ length: 40 + random.int(80) }, (_, i) => i + 1);
    for (const ticket of tickets) {
      lengths.set(ticket, lengthOf(random));
      ends.send(ticket, lengthOf(random));
      if (random.chance(0.2)) await turn();
      if (random.chance(0.2)) ends.arriveDown();
      if (random.chance(0.1)) ends.arriveUp();
    }
    await ends.settle();
    assert.deepEqual(
      ends.answered,
      tickets.map((ticket) => [ticket, lengths.get(ticket)]),
    );
    const most = BATCH_BYTES + VALUE_BYTES_MAX + BESIDES;
    assert.ok(ends.down.largest <= most, `a batch of ${ends.down.largest} bytes`);
    assert.ok(ends.down.most <= WINDOW * most, `${ends.down.most} bytes on the way to the host`);
    assert.ok(ends.up.largest <= most, `a batch of ${ends.up.largest} bytes`);
    assert.ok(ends.up.most <= UNREAD_BYTES_MAX + most, `${ends.up.most} bytes on the way to the head`);
  }
});

test("a host whose head does not read stops, and goes on when it does", async () => {
  const ends = new Ends(() => 500_000);
  for (let ticket = 1; ticket <= 200; ticket++) ends.send(ticket, 10);
  for (let i = 0; i < 50; i++) {
    await turn();
    ends.arriveDown();
  }
  assert.ok(ends.up.bytes >= UNREAD_BYTES_MAX && ends.up.bytes <= UNREAD_BYTES_MAX + 2 * BATCH_BYTES);
  await ends.settle();
  assert.equal(ends.answered.length, 200);
  assert.ok(ends.up.most <= UNREAD_BYTES_MAX + 2 * BATCH_BYTES);
});

test("small messages that wait for a host go in few batches", async () => {
  const ends = new Ends(() => 1);
  for (let ticket = 1; ticket <= 50_000; ticket++) ends.send(ticket, 5);
  await turn();
  assert.equal(ends.down.batches.length, WINDOW);
  await ends.settle();
  assert.equal(ends.answered.length, 50_000);
});
