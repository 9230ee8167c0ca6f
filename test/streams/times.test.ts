import assert from "node:assert/strict";
import { test } from "node:test";
import { HeadwaterError } from "headwater";
import { openStreams, type TenantStreams } from "headwater/streams";
import { Batch, column, encodeBatch } from "#src/streams/columns/index.js";
import { CsvReader } from "#src/streams/door/index.js";
import fc from "../properties.js";
import { served } from "./served.js";

const SCHEMA = [column("at", "timestamp", false)];
const DAY_MS = 86_400_000;

/** What a client can send as a time in milliseconds: around the first and the last one, and far outside. */
const milliseconds = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -2, max: 2 }).map((off) => -62_135_596_800_000 + off),
  fc.integer({ min: -2, max: 2 }).map((off) => 253_402_300_800_000 + off),
  fc.integer({ min: -2, max: 2 }).map((off) => 8.64e15 + off),
  fc.maxSafeInteger(),
  fc.constantFrom(1e20, -1e20, 999_999_999_999_999, 99_999_999_999_999, -0, 0.5),
);

type Door = (streams: TenantStreams, stream: "times", ms: number) => Promise<unknown>;

const DOORS: Readonly<Record<string, Door>> = {
  rows: (streams, stream, at) => streams.pushEvents(stream, [{ at }]),
  lines: (streams, stream, at) => streams.pushNdjson(stream, Buffer.from(`{"at":${JSON.stringify(at)}}\n`)),
  columns: (streams, stream, at) => streams.pushColumns(stream, encodeBatch(Batch.of(SCHEMA, [[at]]))),
};

async function shownAt(streams: TenantStreams, number: number): Promise<string> {
  const [line] = (await streams.page("times", number)).rows;
  return (JSON.parse(line?.json ?? "") as { readonly at: string }).at;
}

test("a time that a door takes can be read, and pushed again as it was read; others are refused", async (t) => {
  const streams = await openStreams();
  t.after(() => streams.service.close());
  await streams.registerStream("times", { at: "timestamp" });
  let next = 1;
  await fc.assert(
    fc.asyncProperty(milliseconds, fc.constantFrom(...Object.keys(DOORS)), async (ms, door) => {
      const isTime = ms >= Date.parse("0001-01-01T00:00Z") && ms < Date.parse("+010000-01-01T00:00Z");
      const pushed = (DOORS[door] as Door)(streams, "times", ms);
      if (!isTime)
        return assert.rejects(
          pushed,
          (error) => error instanceof HeadwaterError && /^HW-530/.test(error.code),
        );
      await pushed;
      const at = await shownAt(streams, next);
      // Texts have microseconds, of which a date of JavaScript has no more than the milliseconds.
      assert.ok(Math.abs(Date.parse(at) - ms) < 1.001, `${ms} is shown as ${at}`);
      await streams.pushEvents("times", [{ at }]);
      assert.equal(await shownAt(streams, next + 1), at);
      next += 2;
    }),
  );
});

test("a field of CSV in milliseconds is taken if it is a time", () => {
  const read = (text: string) => new CsvReader(SCHEMA).read(Buffer.from(text), true).batch.cell(0, 0);
  assert.equal(read("at\n253402300799999\n"), 253_402_300_799_999);
  assert.throws(() => read("at\n253402300800000\n"), /the column "at" is "253402300800000"/);
});

test("a calculated time is written as it is, also before the year 1 and after 9999", async (t) => {
  const service = await served(t);
  const day = fc.integer({ min: -8e7, max: 8e7 });
  await fc.assert(
    fc.asyncProperty(day, fc.nat({ max: DAY_MS - 1 }), async (days, ms) => {
      const sql = `SELECT t AS at, t::text AS text FROM (SELECT timestamp '1970-01-01' ${days < 0 ? "-" : "+"} interval '${Math.abs(days)} days' + interval '${ms / 1000} seconds' AS t) AS x`;
      const answer = await service.ask("POST", "/v1/query", JSON.stringify({ sql }));
      const { rows } = (await answer.json()) as {
        readonly rows: { readonly at: string; readonly text: string }[];
      };
      const date = new Date(days * DAY_MS + ms);
      const [row] = rows;
      assert.equal(Date.parse(row?.at ?? ""), date.getTime());
      const year = date.getUTCFullYear();
      const [, month, dayOfMonth] = /-(\d\d)-(\d\d)T/.exec(date.toISOString()) ?? [];
      const shown = String(year > 0 ? year : 1 - year).padStart(4, "0");
      assert.ok(
        row?.text.startsWith(`${shown}-${month}-${dayOfMonth} `),
        `${date.toISOString()}: ${row?.text}`,
      );
      assert.equal(row?.text.endsWith(" BC"), year < 1);
    }),
    { numRuns: 50 },
  );
});
