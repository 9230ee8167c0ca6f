import assert from "node:assert/strict";
import { test } from "node:test";
import { loadState } from "#src/host/context/stored-state.js";
import { type CopyPorts, JournalCopy } from "#src/host/head/migration-copies.js";
import type { HostId } from "#src/host/ports/index.js";
import { writesIn } from "#src/host/wire/pieces.js";
import type { ToHost } from "#src/host/wire/wire.js";
import { MemoryJournal } from "#src/journal/memory.js";
import { Random } from "#src/random.js";
import { assertSame, Kept, rootOf } from "./kept.js";
import { changeSomething, Thing } from "./thing.js";

/** Copies a context while `change` is made after each piece; true once the copy is ready for the move to take its turn. */
class Copying {
  readonly there = new MemoryJournal();
  pieces = 0;
  isReady = false;
  readonly copy: JournalCopy;
  #rested: (() => void) | null = null;

  constructor(
    readonly kept: Kept,
    pieceBytes: number,
  ) {
    const ports: CopyPorts = {
      send: (_, message) => this.#arrived(message),
      now: () => 0,
      at: (_, task) => {
        this.#rested = task;
      },
      pieceBytes,
      marks: undefined,
    };
    this.copy = new JournalCopy(1, 1 as HostId, [kept.slot], kept.journal, ports, () => {
      this.isReady = true;
    });
  }

  #arrived(message: ToHost): void {
    assert.equal(message.kind, "stagePiece");
    this.pieces += 1;
    const writes = [...writesIn((message as Extract<ToHost, { kind: "stagePiece" }>).piece)];
    this.there.append(
      writes.map(({ key, value }) => ({ key, value: value?.slice() ?? null })),
      () => {},
    );
  }

  /** The other host has the piece, and the rest is over. */
  next(change: (thing: Thing) => void): void {
    this.copy.appended(this.kept.change<Thing>(change));
    this.goOn();
  }

  goOn(): void {
    this.copy.staged();
    this.#rested?.();
  }
}

test("a copy catches up with events that add more than a piece between two pieces", () => {
  const kept = new Kept(rootOf(Thing));
  kept.change<Thing>(({ scores }) => {
    for (let i = 0; i < 500; i++) scores.set(`k${i}`, "x".repeat(20));
  });
  const copying = new Copying(kept, 4096);
  let added = 500;
  while (!copying.isReady && copying.pieces < 1000) {
    copying.next(({ scores }) => {
      for (let i = 0; i < 30; i++) scores.set(`k${added++}`, "y".repeat(20)); // about three pieces
    });
  }
  // 500 entries weigh as much as 50 pieces. Running after what is added, at its own pace, the copy would never get there.
  assert.ok(copying.isReady && copying.pieces < 80, `${copying.pieces} pieces`);
  copying.copy.finish(false);
  assertSame(kept.slot, loadState(copying.there, kept.slot), kept.present);
});

test("a copy gets ready without further events, whatever events changed while it was made", () => {
  const random = new Random(15);
  for (let run = 0; run < 300; run++) {
    const kept = new Kept(rootOf(Thing));
    const change = () => kept.change<Thing>((thing) => changeSomething(thing, random));
    for (let i = random.int(20); i >= 0; i--) change();
    const copying = new Copying(kept, random.pick([1, 100, 4096]));
    for (let i = random.int(6); i > 0; i--) {
      for (let more = random.int(3); more > 0; more--) copying.copy.appended(change());
      copying.goOn();
    }
    for (let before = -1; !copying.isReady && copying.pieces > before; copying.goOn())
      before = copying.pieces;
    assert.ok(copying.isReady, `run ${run}: nothing is on its way, and the copy is not ready`);
    copying.copy.finish(false);
    assertSame(kept.slot, loadState(copying.there, kept.slot), kept.present);
  }
});
