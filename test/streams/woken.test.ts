import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryJournal } from "headwater";
import { StreamService } from "headwater/streams";

const HOUR_MS = 3600 * 1000;

test("after a restart, the windows of a tenant that makes no request close by themselves", async (t) => {
  const journal = new MemoryJournal();
  const first = await StreamService.open({ journal });
  const quiet = await first.tenant("quiet");
  await quiet.define(
    "CREATE STREAM s (n bigint, ts timestamp NOT NULL, WATERMARK FOR ts AS ts) WITH (idle = '1 second')",
  );
  const sql = "SELECT window_start, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '1 millisecond') GROUP BY 1";
  await quiet.registerQuery("counted", sql);
  await quiet.share("counted", "all");
  const reader = await first.tenant("reader");
  await reader.registerQuery("seen", "SELECT n FROM quiet.counted");
  await quiet.pushEvents("s", [{ n: 1, ts: Date.now() - HOUR_MS }]);
  await first.close();
  const second = await StreamService.open({ journal });
  t.after(() => second.close());
  // Only the reader is asked for anything: its rows come from the other tenant's windows.
  for await (const { row } of (await second.tenant("reader")).subscribe("seen", { from: 1 })) {
    assert.equal(row.n, 1);
    break;
  }
});
