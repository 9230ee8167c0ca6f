import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Context, HeadwaterError, readonly, run } from "headwater";
import { analyze, type Coordination, planCoordination, readDataflow, showAnalysis } from "headwater/analysis";
import { SealedPartition, Sequencer } from "headwater/coordination";
import fc from "../properties.js";
import { refused } from "../refused.js";
import { example, WORDCOUNT } from "./dataflows.js";

/** CAMPAIGN of figure 6, made small: the ads of a campaign with fewer than two clicks. */
class Campaign extends SealedPartition<string> {
  poor: readonly string[] | null = null;

  protected process(clicks: readonly string[]) {
    const counts = new Map<string, number>();
    for (const ad of clicks) counts.set(ad, (counts.get(ad) ?? 0) + 1);
    this.poor = [...counts].filter(([, count]) => count < 2).map(([ad]) => ad);
  }
  @readonly answer() {
    return this.poor;
  }
}
class Report extends Context {
  campaigns = this.children(Campaign);
}

type Message = { producer: string } & ({ number: number; ad: string } | { seal: number });

const CLICKS: readonly Message[] = [
  { producer: "ads1", number: 0, ad: "a" },
  { producer: "ads1", number: 1, ad: "b" },
  { producer: "ads1", seal: 2 },
  { producer: "ads2", number: 0, ad: "b" },
  { producer: "ads2", number: 1, ad: "c" },
  { producer: "ads2", number: 2, ad: "d" },
  { producer: "ads2", seal: 3 },
];
const ANSWER = ["a", "c", "d"];

describe("sealing", () => {
  test("replicas answer alike, in whatever order and however often their messages come", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...CLICKS, ...CLICKS], { minLength: CLICKS.length * 2 }),
        fc.nat(CLICKS.length * 2),
        async (messages, told) => {
          await using service = await run(Report);
          const campaign = service.root.campaigns("spring");
          const asked = messages.map(async (message, i) => {
            if (i === told) await campaign.expect(["ads1", "ads2"]);
            if ("seal" in message) await campaign.seal(message.producer, message.seal);
            else await campaign.take(message.producer, message.number, message.ad);
          });
          await Promise.all(asked);
          if (told >= messages.length) await campaign.expect(["ads1", "ads2"]);
          assert.deepEqual(await campaign.answer(), ANSWER);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("nothing is said before every producer has sealed, however much has come", async () => {
    await using service = await run(Report);
    const campaign = service.root.campaigns("spring");
    await campaign.expect(["ads1", "ads2"]);
    for (const message of CLICKS.slice(0, -1)) {
      if ("seal" in message) await campaign.seal(message.producer, message.seal);
      else await campaign.take(message.producer, message.number, message.ad);
      assert.equal(await campaign.answer(), null);
    }
    await campaign.seal("ads2", 3);
    assert.deepEqual(await campaign.answer(), ANSWER);
  });

  test("a seal that overtakes its records waits for them", async () => {
    await using service = await run(Report);
    const campaign = service.root.campaigns("spring");
    await campaign.expect(["ads1"]);
    await campaign.seal("ads1", 1);
    assert.equal(await campaign.answer(), null);
    await campaign.take("ads1", 0, "a");
    assert.deepEqual(await campaign.answer(), ["a"]);
  });

  test("as long as nobody knows the producers, the vote is not over", async () => {
    await using service = await run(Report);
    const campaign = service.root.campaigns("spring");
    await campaign.seal("ads1", 0);
    assert.equal(await campaign.answer(), null);
    await campaign.expect(["ads1"]);
    assert.deepEqual(await campaign.answer(), []);
  });

  test("who the producers are is said once: again, in any order, but not otherwise", async () => {
    await using service = await run(Report);
    const campaign = service.root.campaigns("spring");
    await campaign.expect(["ads1", "ads2"]);
    await campaign.expect(["ads2", "ads1", "ads2"]);
    for (const list of [["ads1"], ["ads1", "ads2", "ads3"], ["ads1", "ads3"], []]) {
      await refused(campaign.expect(list), "HW-5009");
    }
    await campaign.seal("ads1", 0);
    await campaign.seal("ads2", 0);
    assert.deepEqual(await campaign.answer(), []);
    await refused(campaign.expect(["ads1"]), "HW-5009");
  });

  test("with one producer there is no vote: its seal is enough", async () => {
    class Own extends Campaign {
      protected override producers() {
        return ["ads1"];
      }
    }
    class Single extends Context {
      campaigns = this.children(Own);
    }
    await using service = await run(Single);
    const campaign = service.root.campaigns("spring");
    await campaign.take("ads1", 0, "a");
    await campaign.seal("ads1", 1);
    assert.deepEqual(await campaign.answer(), ["a"]);
  });

  test("partitions do not wait for each other", async () => {
    await using service = await run(Report);
    await service.root.campaigns("spring").expect(["ads1", "ads2"]);
    await service.root.campaigns("autumn").expect(["ads1"]);
    await service.root.campaigns("autumn").take("ads1", 0, "z");
    await service.root.campaigns("autumn").seal("ads1", 1);
    assert.deepEqual(await service.root.campaigns("autumn").answer(), ["z"]);
    assert.equal(await service.root.campaigns("spring").answer(), null);
  });

  test("whoever breaks a seal is refused, and nothing changes", async () => {
    await using service = await run(Report);
    const campaign = service.root.campaigns("spring");
    await campaign.expect(["ads1", "ads2"]);
    await campaign.take("ads1", 3, "a");
    await refused(campaign.seal("ads1", 2), "HW-5005");
    await campaign.seal("ads1", 4);
    await refused(campaign.take("ads1", 4, "b"), "HW-5005");
    await refused(campaign.seal("ads1", 5), "HW-5005");
    await refused(campaign.take("stranger", 0, "b"), "HW-5005");
    for (const number of [0, 1, 2]) await campaign.take("ads1", number, "b");
    await campaign.seal("ads2", 0);
    assert.deepEqual(await campaign.answer(), ["a"]);
  });
});

describe("ordering", () => {
  class Replica extends Context {
    /** What an order-sensitive component remembers: everything, in order. */
    log: string[] = [];
    take(record: string) {
      this.log.push(record);
    }
    @readonly read() {
      return this.log;
    }
  }
  class Orders extends Sequencer<string> {
    protected deliver(_position: number, record: string) {
      for (const name of ["first", "second"]) this.event.send(this.event.peer(Replica, name)).take(record);
    }
  }
  /** Without an order: each producer sends to each replica by itself. */
  class Producer extends Context {
    say(record: string, order: readonly string[]) {
      for (const name of order) this.event.send(this.event.peer(Replica, name)).take(record);
    }
  }

  test("all replicas see one sequence, that of the tickets", async () => {
    await using service = await run({ orders: Orders, first: Replica, second: Replica });
    const records = Array.from({ length: 20 }, (_, i) => `r${i}`);
    const positions = await Promise.all(records.map((record) => service.nodes.orders.submit(record)));
    await service.idle();
    const first = await service.nodes.first.read();
    assert.deepEqual(await service.nodes.second.read(), first);
    assert.deepEqual(
      positions.map((position) => first[position]),
      records,
    );
  });

  test("without it they may not: this is what Inst and Diverge are about", async () => {
    await using service = await run({ p: Producer, q: Producer, first: Replica, second: Replica });
    const say = (node: "p" | "q", record: string, to: string) => service.nodes[node].say(record, [to]);
    await say("p", "x", "first");
    await service.idle();
    await say("q", "y", "first");
    await say("q", "y", "second");
    await service.idle();
    await say("p", "x", "second");
    await service.idle();
    assert.deepEqual(await service.nodes.first.read(), ["x", "y"]);
    assert.deepEqual(await service.nodes.second.read(), ["y", "x"]);
  });
});

describe("the choice", () => {
  const kinds = async (text: string) =>
    [...planCoordination(analyze(await readDataflow(text))).values()].map(
      ({ component, coordination }) => `${component} ${coordination.kind}`,
    );

  test("follows from the labels: none, seals, or an order", async () => {
    assert.deepEqual(await kinds(WORDCOUNT), ["Commit none", "Count order", "Splitter none"]);
    const sealed = `${WORDCOUNT}\nstreams: { tweets: { seal: [batch] } }\n`;
    assert.deepEqual(await kinds(sealed), ["Commit none", "Count seal", "Splitter none"]);
    const chosen = (name: string) =>
      example(name).then((each) => planCoordination(each).get("Report")?.coordination);
    assert.deepEqual(await chosen("ads-thresh"), { kind: "none" });
    assert.deepEqual(await chosen("ads-poor"), { kind: "order", streams: ["clicks", "misses"] });
    const seals: Coordination = {
      kind: "seal",
      streams: [{ name: "clicks", seal: { key: ["campaign"], prefix: false }, with: [], vote: true }],
      holds: [{ name: "misses", until: "clicks", by: ["campaign"] }],
    };
    assert.deepEqual(await chosen("ads-campaign-sealed"), seals);
  });

  test("waits for all of a stream where paths need several of its keys", async () => {
    const text = `
A:
  annotation:
    - { from: in, to: x, label: OW, subscript: [k] }
    - { from: in, to: y, label: OW, subscript: [l] }
streams: { in: { seal: [[k], [l]] } }
`;
    const { coordination } = planCoordination(analyze(await readDataflow(text))).get("A") ?? {};
    assert.deepEqual(coordination, {
      kind: "seal",
      streams: [{ name: "in", seal: null, with: [], vote: true }],
      holds: [],
    });
  });

  test("holds what meets a sealed stream: the left side of an antijoin or an outer join, by what it is compared with", async () => {
    const planned = async (sql: string, seal: string) => {
      const text = `Q: { sql: "${sql}", tables: { r: [a, b], s: [a, b] }, to: out }\nstreams: { s: { seal: [${seal}] } }\n`;
      const analysis = analyze(await readDataflow(text));
      assert.equal(analysis.outputs[0]?.label, "Async", sql);
      const choice = planCoordination(analysis).get("Q")?.inForce;
      assert.equal(choice?.kind, "seal");
      return choice?.kind === "seal" ? choice.holds : [];
    };
    const antijoin = (on: string) => `select r.a from r where not exists (select 1 from s where ${on})`;
    const hold = (by: string[] | null) => [{ name: "r", until: "s", by }];
    assert.deepEqual(await planned(antijoin("s.a = r.a"), "a"), hold(["a"]));
    assert.deepEqual(await planned(antijoin("s.b = r.a"), "b"), hold(["a"]));
    assert.deepEqual(await planned(antijoin("s.a = r.b and s.b = r.a"), "a"), hold(["b"]));
    assert.deepEqual(await planned("select r.a, s.b from r left join s on s.b = r.a", "b"), hold(["a"]));
    // No row of r names a value of b that it waits for.
    assert.deepEqual(await planned(antijoin("s.a = r.a and s.b = 1"), "b"), hold(null));
    const apart = "select a from r union all select a from s group by a having count(*) < 3";
    assert.deepEqual(await planned(apart, "a"), [], "rows that never meet do not wait for each other");
  });

  test("is what is printed", async () => {
    const text = `
Unpaid:
  sql: select o.id from orders o where not exists (select 1 from payments p where p.order_id = o.id)
  tables: { orders: [id], payments: [order_id] }
  to: unpaid
streams: { payments: { seal: [order_id] } }
`;
    const report = showAnalysis(analyze(await readDataflow(text)));
    assert.match(report, /^ {2}Unpaid: waits for seals, because payments is sealed on \{order_id\}$/m);
    assert.match(report, /^ {4}payments waits until its order_id is complete$/m);
    assert.match(report, /^ {4}orders waits until the id that it names is complete in payments$/m);
  });

  test("is none where what comes of it was accepted", async () => {
    const accepted = `${WORDCOUNT}\naccept: [{ stream: counts, reason: rough numbers will do }]\n`;
    assert.deepEqual(await kinds(accepted), ["Commit none", "Count none", "Splitter none"]);
  });

  test("can be overridden with a reason, which is kept", async () => {
    const text = WORDCOUNT.replace(
      "Count:",
      'Count:\n  coordination: { kind: none, reason: "one thread feeds it" }',
    );
    const choice = planCoordination(analyze(await readDataflow(text))).get("Count");
    assert.deepEqual(choice, {
      component: "Count",
      coordination: { kind: "none" },
      inForce: { kind: "none" },
      because: "one thread feeds it",
      override: "one thread feeds it",
    });
  });

  test("cannot be seals where none fit, nor anything without a reason", async () => {
    const wish = (kind: string, reason: string) =>
      readDataflow(
        WORDCOUNT.replace("Count:", `Count:\n  coordination: { kind: ${kind}, reason: "${reason}" }`),
      );
    for (const [kind, reason] of [
      ["seal", "cheaper"],
      ["none", "  "],
    ] as const) {
      const analysis = analyze(await wish(kind, reason));
      assert.throws(
        () => planCoordination(analysis),
        (error) =>
          error instanceof HeadwaterError &&
          error.code === "HW-5004" &&
          /HW-5004: dataflow:6:3: The coordination of Count /.test(error.message),
      );
    }
  });
});
