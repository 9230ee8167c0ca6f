import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { analyze, type Dataflow, Dependencies, type Dependency, type Lineage } from "headwater/analysis";
import { graph, path } from "./dataflows.js";

function injective(from: string, to: string): Dependency {
  return { from: from.split(","), to: to.split(","), injective: true, orderPreserving: false };
}

function plain(from: string, to: string): Dependency {
  return { ...injective(from, to), injective: false };
}

function growing(from: string, to: string): Dependency {
  return { ...plain(from, to), orderPreserving: true };
}

function seal(...key: string[]) {
  return { key, prefix: false };
}

function watermark(attribute: string) {
  return { key: [attribute], prefix: true };
}

describe("section V.A.1: a company determines its symbol injectively, and its city not", () => {
  const dependencies = new Dependencies([injective("company", "symbol"), plain("company", "city")]);

  test("a sealed company seals its symbol, but not the city that it shares with others", () => {
    assert.equal(dependencies.compatible(["symbol"], seal("company")), true);
    assert.equal(dependencies.compatible(["city"], seal("company")), false);
    assert.equal(dependencies.injectivefd(["company"], ["symbol"]), true);
    assert.equal(dependencies.injectivefd(["company"], ["city"]), false);
  });
  test("one fitting attribute of the gate is enough", () => {
    assert.equal(dependencies.compatible(["city", "symbol"], seal("company")), true);
    assert.equal(dependencies.compatible(["city", "company"], seal("company")), true);
  });
  test("an injective function can be followed backwards", () => {
    assert.equal(dependencies.compatible(["company"], seal("symbol")), true);
  });
  test("a sealed city seals none of its companies", () => {
    assert.equal(dependencies.compatible(["company"], seal("city")), false);
  });
});

describe("compatibility", () => {
  test("all attributes of the key are needed: what is complete for a pair is not complete for one of them", () => {
    const none = new Dependencies([]);
    assert.equal(none.compatible(["campaign"], seal("id", "campaign")), false);
    assert.equal(none.compatible(["id", "campaign"], seal("campaign", "id")), true);
    assert.equal(none.compatible(["id", "campaign", "day"], seal("campaign", "id")), true);
  });
  test("injective functions chain and go side by side", () => {
    const chain = new Dependencies([injective("a", "b"), injective("b", "c"), injective("x", "y")]);
    assert.equal(chain.compatible(["c"], seal("a")), true);
    assert.equal(chain.compatible(["c", "y"], seal("a", "x")), true);
    assert.equal(chain.compatible(["c"], seal("a", "x")), false);
    const pair = new Dependencies([injective("first,last", "person")]);
    assert.equal(pair.compatible(["person"], seal("first", "last")), true);
    assert.equal(pair.compatible(["person"], seal("first")), false);
  });
  test("an unknown gate fits no seal", () => {
    assert.equal(new Dependencies([]).compatible("*", seal("id")), false);
  });
  test("cycles of functions end", () => {
    const round = new Dependencies([
      injective("a", "b"),
      injective("b", "a"),
      growing("a", "b"),
      growing("b", "a"),
    ]);
    assert.equal(round.compatible(["b"], seal("a")), true);
    assert.equal(round.compatible(["b"], watermark("a")), true);
  });
});

describe("watermarks are prefix seals", () => {
  const dependencies = new Dependencies([
    growing("time", "minute"),
    growing("minute", "hour"),
    injective("hour", "window"),
  ]);

  test("a watermark completes every order-preserving function of its attribute, injective or not", () => {
    for (const gate of ["time", "minute", "hour", "window"]) {
      assert.equal(dependencies.compatible(["id", gate], watermark("time")), true, gate);
    }
  });
  test("an ordinary seal on the time does not", () => {
    assert.equal(dependencies.compatible(["hour"], seal("time")), false);
  });
  test("it says nothing about what does not grow with the time", () => {
    assert.equal(dependencies.compatible(["id"], watermark("time")), false);
    assert.equal(dependencies.compatible(["minute"], watermark("hour")), false);
  });
});

describe("a seal passes a confluent path", () => {
  function after(
    lineage: readonly Lineage[] | undefined,
    attributes?: readonly string[],
    prefix = false,
  ): string {
    const made = graph(
      { Project: [{ ...path("in", "out", "CR"), ...(lineage === undefined ? {} : { lineage }) }] },
      { in: [null, "Project.in"], out: ["Project.out", null] },
    );
    const [input, output] = made.streams;
    assert.ok(input && output);
    const given: Dataflow = {
      ...made,
      streams: [
        { ...input, seals: [{ key: ["company"], prefix }] },
        attributes === undefined ? output : { ...output, attributes },
      ],
      dependencies: [injective("company", "symbol"), plain("company", "city"), growing("company", "rank")],
    };
    const { label, seals } = analyze(given).streams.get("out") ?? { label: "", seals: [] };
    return [label, ...seals.map(({ key, prefix }) => (prefix ? `≤${key}` : key.join(",")))].join(" ");
  }
  const copy = (from: string, to: string): Lineage => ({
    from: [from],
    to,
    injective: true,
    orderPreserving: true,
  });

  test("by name, as long as nothing is known of the output", () => {
    assert.equal(after(undefined), "Seal company");
  });
  test("under its new name", () => {
    assert.equal(after([copy("company", "firm")]), "Seal firm");
  });
  test("as what it injectively determines", () => {
    assert.equal(after(undefined, ["symbol", "city"]), "Seal symbol");
    assert.equal(after([copy("symbol", "s"), copy("city", "c")]), "Seal s");
  });
  test("not if its key is gone", () => {
    assert.equal(after(undefined, ["city"]), "Async");
    assert.equal(after([copy("city", "city")]), "Async");
    assert.equal(after([{ ...copy("company", "initial"), injective: false }]), "Async");
  });
  test("a watermark passes as anything that grows with it", () => {
    assert.equal(after([{ ...copy("company", "hour"), injective: false }], undefined, true), "Seal ≤hour");
    assert.equal(after(undefined, ["rank"], true), "Seal ≤rank");
  });
});
