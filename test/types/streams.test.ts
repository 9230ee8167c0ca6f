import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamId, TenantStreams } from "headwater/streams";

/** Rows typed from columns, checked by the compiler; nothing here is run. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const equal = <A, B>(_: Equal<A, B>): void => {};

async function typed(streams: TenantStreams) {
  const bids = await streams.registerStream(
    "bids",
    { auction: "bigint", price: "numeric?", at: "timestamp", tags: "json?", ok: "boolean" },
    { time: { column: "at", latenessMs: 1000 } },
  );
  await streams.pushEvents(bids, [
    { auction: 1, price: "1.10", at: new Date(0), ok: true },
    { auction: 2n, at: 5, price: null, tags: ["a"], ok: false },
  ]);
  // @ts-expect-error the auction is missing
  await streams.pushEvents(bids, [{ at: 5, ok: true }]);
  // @ts-expect-error an auction is a number
  await streams.pushEvents(bids, [{ auction: "1", at: 5, ok: true }]);
  // @ts-expect-error there is no such column
  await streams.pushEvents(bids, [{ auction: 1, at: 5, ok: true, bidder: 3 }]);
  // @ts-expect-error there is no such type
  await streams.registerStream("b", { auction: "bigger" });

  for await (const { row, number } of streams.subscribe(bids)) {
    equal<typeof number, number>(true);
    equal<
      typeof row,
      {
        readonly auction: number;
        readonly price: string | null;
        readonly at: string;
        readonly tags: unknown;
        readonly ok: boolean;
      }
    >(true);
  }

  const dear = await streams.registerQuery("dear", "SELECT auction FROM bids WHERE price > 10", {
    columns: { auction: "bigint" },
  });
  equal<typeof dear, StreamId<{ readonly auction: number }>>(true);
  for await (const { row } of streams.subscribe(dear)) equal<typeof row.auction, number>(true);
  // @ts-expect-error rows are not pushed into queries
  await streams.pushEvents(dear, [{ auction: 1 }]);

  const [first] = await streams.readView("a_name");
  equal<typeof first, Readonly<Record<string, unknown>> | undefined>(true);
  await streams.pushEvents("a_name", [{ anything: 1 }]);
}

test("rows have the types of their stream's columns", () => assert.equal(typeof typed, "function"));
