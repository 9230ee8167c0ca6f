import assert from "node:assert/strict";
import test from "node:test";
import { MemoryJournal, run } from "headwater";
import { Random } from "#src/random.js";
import AuctionHouse, { main, post } from "../../examples/auction.js";
import { until } from "../waits.js";
import { printed } from "./printed.js";

/** What was sent, by recipient. */
function letters(): Map<string, string[]> {
  const sent = new Map<string, string[]>();
  const keys = new Set<string>();
  post.deliver = async ({ to, text }, key) => {
    assert.ok(!keys.has(key), "a mail that was delivered is not sent again");
    keys.add(key);
    sent.set(to, [...(sent.get(to) ?? []), text]);
  };
  return sent;
}

test("the demonstration suspends who is in a rush and who bids for own goods", async () => {
  const sent = letters();
  await using service = await run(AuctionHouse);
  const lines = await printed(main, service);
  assert.match(lines.join("\n"), /leading: 1\. ben 310, 2\. sam 300, 3\. mallory 170/);
  assert.match(lines.join("\n"), /spent: ben 310$/);
  await until(() => sent.get("ben")?.some((text) => text.endsWith("is yours for 310")));
  assert.equal(sent.get("mallory")?.filter((text) => text.includes("suspended")).length, 1);
  assert.equal(sent.get("sam")?.filter((text) => text.includes("own auction")).length, 1);
});

test("an auction closes by itself, and a bid shortly before puts that off", async () => {
  letters();
  await using service = await run(AuctionHouse);
  const { root } = service;
  await root.open("tie", "sam", 60_000);
  const { endsMs } = await root.auction("tie");
  await root.bid("tie", "ada", 5);
  assert.equal((await root.auction("tie")).endsMs, endsMs, "there is time");
  await root.open("lamp", "sam", 1);
  await until(async () => (await root.auction("lamp")).state === "closed");
  await assert.rejects(root.bid("lamp", "ada", 5), /not open/);
  await root.open("vase", "sam", 9000);
  const before = await root.auction("vase");
  await root.bid("vase", "ada", 7);
  assert.ok((await root.auction("vase")).endsMs > before.endsMs);
  await root.close("vase");
  await root.close("vase");
  assert.deepEqual(await root.spenders(), [{ bidder: "ada", spent: 7, won: 1 }]);
});

test("with many bids at once, the auction, its leaders and the mails agree, also after a restart", async () => {
  const sent = letters();
  const journal = new MemoryJournal();
  const random = new Random(5);
  const service = await run(AuctionHouse, { journal });
  const { root } = service;
  await root.open("vase", "sam", 600_000);
  const accepted: { bidder: string; price: number }[] = [];
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const bid = { bidder: `b${i % 30}`, price: 1 + random.int(1000) };
      const seen = await root.bid("vase", bid.bidder, bid.price).then(
        () => accepted.push(bid),
        () => root.auction("vase"),
      );
      if (typeof seen === "number") return;
      const [first] = seen.leaders;
      assert.deepEqual(first && { bidder: first.bidder, price: first.price }, seen.best ?? undefined);
    }),
  );
  accepted.sort((a, b) => a.price - b.price);
  await service.idle();
  const outbid = accepted.filter(({ bidder }, i) => {
    const next = accepted[i + 1];
    return next !== undefined && next.bidder !== bidder;
  });
  await until(() => [...sent.values()].flat().length >= outbid.length);
  const seen = await root.auction("vase");
  assert.deepEqual(
    seen.leaders.map(({ bidder, price }) => ({ bidder, price })),
    accepted.slice(-3).reverse(),
  );
  await service.stop();
  await using again = await run(AuctionHouse, { journal });
  assert.deepEqual(await again.root.auction("vase"), seen);
  assert.equal([...sent.values()].flat().length, outbid.length, "one mail for each bid that was outbid");
});
