import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Context, MemoryJournal, tracked } from "headwater";
import type { Ticket } from "#src/core/event.js";
import type { Slot } from "#src/host/context/slot.js";
import { decodeState, encodeState } from "#src/host/context/stored-state.js";
import { loadMessages } from "#src/host/head/load-messages.js";
import { DEFAULT_LIMITS } from "#src/host/ports/limits.js";
import { memoryPorts } from "#src/host/ports/ports.js";
import { HostSite } from "#src/host/site/site.js";
import { HeadLine, HostLine } from "#src/host/wire/line.js";
import type { ToHead } from "#src/host/wire/wire.js";
import { Random } from "#src/random.js";
import { Kept, rootOf, shown } from "../host/kept.js";

class Store extends Context {
  items = tracked.map<number, string>();
  text = "";
}

const CONTEXT_BYTES = 50 * 2 ** 20;
const LARGEST = 5_000_000;
/** Two batches on their way, one that is made (`line.ts`), and what was read for the next part, one large value at most. */
const AHEAD_BYTES_MAX = 3 * (2 ** 20 + 2 ** 18) + LARGEST + 2 ** 18;

/** Counts what was read of it. */
class CountedJournal extends MemoryJournal {
  readBytes = 0;

  override get(key: string): Uint8Array | undefined {
    const value = super.get(key);
    this.readBytes += value?.length ?? 0;
    return value;
  }

  override *range(prefix: string, after?: string): Iterable<[key: string, value: Uint8Array]> {
    for (const entry of super.range(prefix, after)) {
      this.readBytes += entry[1].length;
      yield entry;
    }
  }
}

/** A context with small and large values, one of them of several megabytes, as a journal has it. */
function stored(random: Random): { kept: Kept; journal: CountedJournal } {
  const journal = new CountedJournal();
  const kept = new Kept(rootOf(Store, "Store"), journal);
  kept.change<Store>((store) => {
    let bytes = 0;
    for (let key = 0; bytes < CONTEXT_BYTES; key++) {
      const length = key === 7 ? LARGEST : random.pick([10, 1000, 50_000, 400_000]);
      store.items.set(key, String.fromCharCode(97 + random.int(26)).repeat(length));
      bytes += length;
    }
    store.text = "t".repeat(1_000_000);
  });
  journal.readBytes = 0;
  return { kept, journal };
}

/** A head and a host whose connection passes on a batch when it is told to. */
class Connection {
  readonly site: HostSite;
  readonly head: HeadLine;
  readonly host: HostLine;
  readonly heard: ToHead[] = [];
  readonly #down: Uint8Array[] = [];
  readonly #up: Uint8Array[] = [];
  arrivedBytes = 0;
  largestBytes = 0;

  constructor(slot: Slot) {
    const { messageBytes } = DEFAULT_LIMITS;
    const send = (message: ToHead) => this.host.send(message);
    const options = { limits: DEFAULT_LIMITS, isDurable: true };
    this.site = new HostSite({ Store }, { ...memoryPorts, send }, options);
    this.head = new HeadLine({
      roots: () => new Map([["Store", slot]]),
      messageBytes,
      post: (bytes) => this.#down.push(bytes),
      take: (message) => this.heard.push(message),
    });
    this.host = new HostLine({
      roots: () => this.site.roots,
      messageBytes,
      post: (bytes) => this.#up.push(bytes),
      take: (message) => this.site.receive(message),
    });
  }

  /** One batch in each direction, and what the two ends make of it. */
  async pass(): Promise<boolean> {
    await turn();
    const [down, up] = [this.#down.shift(), this.#up.shift()];
    if (down !== undefined) {
      this.arrivedBytes += down.length;
      this.largestBytes = Math.max(this.largestBytes, down.length);
      this.host.receive(down);
    }
    if (up !== undefined) this.head.receive(up);
    return down !== undefined || up !== undefined;
  }
}

test("a context of 50 MB goes to a host in parts, and the head reads no more of it than the connection takes", async () => {
  const { kept, journal } = stored(new Random(1));
  const connection = new Connection(kept.slot);
  connection.head.stream(loadMessages(journal, kept.slot));
  const asked = { node: "Store", ticket: 1 as Ticket, attempt: 1 };
  connection.head.send({ kind: "view", ...asked, path: [], look: 1 }); // comes after all of it
  for (let idle = 0; idle < 5; idle++) {
    if (await connection.pass()) idle = 0;
    const ahead = journal.readBytes - connection.arrivedBytes;
    assert.ok(ahead <= AHEAD_BYTES_MAX, `${ahead} bytes were read and have not arrived`);
  }
  assert.ok(journal.readBytes > CONTEXT_BYTES);
  assert.ok(connection.largestBytes < 2 * 2 ** 20, `a batch of ${connection.largestBytes} bytes`);
  const [answer] = connection.heard;
  assert.ok(answer?.kind === "viewed" && answer.state !== null);
  const there = decodeState(kept.slot, answer.state);
  assert.deepEqual(shown(kept.slot, there), shown(kept.slot, kept.present));
  assert.equal(Buffer.compare(answer.state, encodeState(kept.slot, kept.present)), 0);
});

test("contexts of any size arrive as they were, however their values are cut", async () => {
  const random = new Random(2);
  const edges = [0, 1, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, 2 ** 19, 2 ** 19 + 1, 700_000];
  for (let round = 0; round < 20; round++) {
    const kept = new Kept(rootOf(Store, "Store"));
    kept.change<Store>((store) => {
      for (let key = random.int(8); key > 0; key--) store.items.set(key, "v".repeat(random.pick(edges)));
      store.text = "t".repeat(random.pick(edges));
    });
    const connection = new Connection(kept.slot);
    connection.head.stream(loadMessages(kept.journal, kept.slot));
    for (let idle = 0; idle < 5; idle++) if (await connection.pass()) idle = 0;
    const there = connection.site.roots.get("Store") as Slot;
    assert.deepEqual(shown(there, there.state), shown(kept.slot, kept.present));
  }
});
