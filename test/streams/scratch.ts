import { Context, run, readonly, MemoryJournal } from "headwater";
import { Queries, stream, view, query, column, type Changes } from "headwater/queries";
const defs = {
  bids: stream({ auction: column.text, bidder: column.text, price: column.int, note: column.text.nullable }),
  top: view({ auction: column.text, best: column.int.nullable, n: column.int }, "SELECT auction, max(price) AS best, count(*) AS n FROM bids GROUP BY auction"),
  big_bids: query({ bidder: column.text, price: column.int }, "SELECT bidder, price FROM bids WHERE price > 100"),
};
class Market extends Queries(defs) {
  protected override changed({ bigBids = [] }: Changes<typeof defs>) {
    for (const { row, weight } of bigBids) if (weight > 0) this.event.start(this.above(House).people(row.bidder)).flag(row.price);
  }
}
class Plain extends Context { n = 0; add(k: number) { this.n += k; } }
class Person extends Context<string> { flags: number[] = []; flag(p: number) { this.flags.push(p); } @readonly all() { return this.flags; } }
class House extends Context {
  market = this.child(Market);
  plain = this.child(Plain);
  people = this.children(Person);
  async bid(auction: string, bidder: string, price: number) {
    await this.market.pushBids({ auction, bidder, price });
  }
  async add(k: number) { await this.plain.add(k); }
  @readonly async tops() { return await this.market.readTop(); }
}
const service = await run(House, process.argv[2] === "j" ? { journal: new MemoryJournal() } : {});
const { root } = service;
console.log(await root.tops());
await root.bid("a", "ann", 5); await root.bid("a", "bob", 500); await root.bid("b", "bob", 7);
console.log(await root.tops(), await root.people("bob").all(), await root.market.followBigBids(1));
await root.market.pushBids({ auction: "x", bidder: 5 as never, price: 3 }).catch((e) => console.log(String(e)));
for (let r = 0; r < 4; r++) for (const what of ["add", "bid"] as const) {
  const N = 20000; const t = process.cpuUsage();
  for (let i = 0; i < N; i += 500) await Promise.all(Array.from({ length: 500 }, (_, k) => what === "add" ? root.add(k) : root.bid(`a${k % 50}`, "ann", k % 100)));
  const u = process.cpuUsage(t); console.log(what, ((u.user + u.system) / N).toFixed(2), "us");
}
await service.stop();
