import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal, run } from "headwater";
import { CopiedFields } from "#src/cluster/copied-fields.js";
import { HotCopies } from "#src/cluster/copies.js";
import { NamedPlace } from "#src/cluster/place.js";
import type { Journal, Write } from "#src/journal/journal.js";
import { Random } from "#src/random.js";
import { Batch, column, encodeBatch } from "#src/streams/columns/index.js";
import { DEFAULT_RETENTION, encodeCommand } from "#src/streams/graph/index.js";
import { Streams } from "#src/streams/service/contexts.js";
import { TenantReads } from "#src/streams/service/tenant-reads.js";
import { planQuery } from "#src/streams/sql/index.js";
import { until, waitFor } from "../waits.js";

const SCHEMA = [column("v", "int")];
const SQL = "SELECT count(*) AS c FROM s";

/** A journal whose groups reach the copies of another process only when they are told so. */
function delayed(inner: Journal, held: (readonly Write[])[]): Journal {
  return {
    get: (key) => inner.get(key),
    range: (prefix, after) => inner.range(prefix, after),
    append: (writes, done) => {
      held.push(writes);
      inner.append(writes, done);
    },
    refusal: () => inner.refusal(),
    close: () => inner.close(),
  };
}

test("reads of a copy that is behind, lost and made again see all that was acknowledged, and a subscriber each row once and in order", async (t) => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = new Random(seed);
    const table = new MemoryJournal();
    const held: (readonly Write[])[] = [];
    const program = await run(Streams, { journal: delayed(table, held) });
    t.after(() => program.stop());
    let now = 0;
    const copies = new HotCopies({
      ...{ member: "here", replicas: 2, now: () => now, every: () => () => {} },
      fields: new CopiedFields([NamedPlace.root("Streams", Streams)]),
      onWarning: (error) => assert.fail(error),
    });
    const { graph } = program.root.tenants("t");
    const reads = new TenantReads(graph, copies);
    copies.onGrown((context) => {
      if (context === String(graph)) reads.copied();
    });
    const release = () => {
      for (const { key, value } of held.shift() ?? []) copies.write(key, value);
      copies.applied(0);
    };
    /** As a process that has read the whole log, and has made the copies that the ring gives to it. */
    const follow = () => {
      held.length = 0;
      copies.follow(table);
      now += 1000;
      copies.heard({ member: "here", epoch: 0, position: 0, state: "standby", program: "" });
      copies.look();
    };
    const asked = {
      key: null,
      retention: DEFAULT_RETENTION,
      coordination: null,
      partitions: 1,
      backfill: false,
    };
    await graph.carryOut(
      encodeCommand({
        kind: "define stream",
        definition: {
          ...{ kind: "stream", name: "s", columns: SCHEMA, key: [], time: null, eventId: null },
          retention: DEFAULT_RETENTION,
        },
      }),
    );
    const plan = await planQuery(SQL, { s: SCHEMA });
    await graph.carryOut(
      encodeCommand({
        kind: "define query",
        definition: {
          ...{ kind: "view", name: "q", sql: SQL, plan, emit: "changes", inputs: ["s"] },
          ...asked,
        },
      }),
    );
    follow();
    assert.ok(copies.of(String(graph), "engine"));
    const numbers: number[] = [];
    const stop = new AbortController();
    const subscribed = (async () => {
      for await (const { number } of reads.subscribe("s", { from: 1, signal: stop.signal }))
        numbers.push(number);
    })();
    let pushed = 0;
    const reading: Promise<void>[] = [];
    const read = async () => {
      const least = pushed;
      const [row] = random.chance(0.5)
        ? await reads.readView("q")
        : [{ c: (await reads.page("s", 1)).rows.length }];
      const seen = Number(row?.c ?? 0);
      assert.ok(seen >= least && seen <= pushed, `${seen} of ${least} to ${pushed}`);
    };
    const push = async () => {
      const batch = encodeBatch(Batch.of(SCHEMA, [[pushed]]));
      const pushes = [{ stream: "s", producer: "", sequence: null, key: null, batch }];
      await graph.carryOut(encodeCommand({ kind: "push", pushes }));
      pushed += 1;
    };
    for (let step = 0; step < 80; step++) {
      const what = random.int(10);
      if (what < 3) {
        await push();
        if (copies.of(String(graph), "engine") === null) reads.copied(); // the head says so
      } else if (what < 6) reading.push(read());
      else if (what < 8) release();
      else if (what === 8 && random.chance(0.3)) copies.follow(null);
      else if (random.chance(0.3)) follow();
    }
    while (held.length > 0) release();
    await waitFor(`for the reads of seed ${seed}`, Promise.all(reading));
    follow();
    await until(() => numbers.length >= pushed);
    // From here on, only the copy says that there is more.
    await push();
    while (held.length > 0) release();
    await until(() => numbers.length >= pushed);
    assert.deepEqual(
      numbers,
      Array.from({ length: pushed }, (_, i) => i + 1),
    );
    stop.abort();
    await subscribed;
  }
});
