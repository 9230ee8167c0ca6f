import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Analysis,
  type AnnotationKind,
  advise,
  analyze,
  type Component,
  type ComponentPath,
  type Dataflow,
  type Dependency,
  type Gate,
  planCoordination,
  type Seal,
  type Stream,
  severityOf,
  showAnalysis,
  showDerivation,
  toDot,
  toJson,
  toSvg,
} from "headwater/analysis";
import fc from "../properties.js";
import { dataflow } from "./random-dataflows.js";

/** Few names, so that seals, gates and interfaces meet often. */
const attribute = fc.constantFrom("k", "l", "m");
const attributes = fc.uniqueArray(attribute, { minLength: 1, maxLength: 2 });
const kind = fc.constantFrom<AnnotationKind>("CR", "CW", "OR", "OW");
const gate = fc.oneof({ weight: 4, arbitrary: attributes }, fc.constant<Gate>("*"));
const input = fc.constantFrom("a", "b");
const output = fc.constantFrom("x", "y");
const repetition = fc.constantFrom("passes", "minds", "absorbs" as const);

const path: fc.Arbitrary<ComponentPath> = fc
  .record({
    from: input,
    to: output,
    annotation: kind,
    gate,
    repetition: fc.option(repetition, { nil: undefined }),
  })
  .map(({ repetition, ...rest }) => (repetition === undefined ? rest : { ...rest, repetition }));
const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 4, selector: (each) => JSON.stringify(each) });
const seal: fc.Arbitrary<Seal> = fc.oneof(
  attributes.map((key) => ({ key, prefix: false })),
  attribute.map((each) => ({ key: [each], prefix: true })),
);
const dependency: fc.Arbitrary<Dependency> = fc.oneof(
  fc.record({
    from: attributes,
    to: attributes,
    injective: fc.boolean(),
    orderPreserving: fc.constant(false),
  }),
  fc.record({
    from: attribute.map((each) => [each]),
    to: attribute.map((each) => [each]),
    injective: fc.boolean(),
    orderPreserving: fc.constant(true),
  }),
);

interface Ends {
  readonly from: number | null;
  readonly to: number | null;
  readonly seals: readonly Seal[];
  readonly twice: boolean;
}

const graph: fc.Arbitrary<Dataflow> = fc
  .record({
    components: fc.array(fc.record({ paths, rep: fc.option(fc.boolean(), { nil: undefined }) }), {
      minLength: 1,
      maxLength: 5,
    }),
    ends: fc.array(
      fc.record({
        from: fc.option(fc.nat(), { nil: null }),
        to: fc.option(fc.nat(), { nil: null }),
        seals: fc.array(seal, { maxLength: 2 }),
        twice: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    dependencies: fc.array(dependency, { maxLength: 3 }),
  })
  .map(({ components, ends, dependencies }) => {
    const made = components.map(
      ({ paths, rep }, i): Component => ({ name: `C${i}`, paths, ...(rep === undefined ? {} : { rep }) }),
    );
    return {
      components: made,
      streams: ends.flatMap((each, i) => streamOf(each, i, made)),
      dependencies,
      accepted: [],
    };
  });

function streamOf({ from, to, seals, twice }: Ends, i: number, components: readonly Component[]): Stream[] {
  const ports = (side: "from" | "to") =>
    components.flatMap(({ name, paths }) =>
      paths.map((path) => ({ component: name, interface: path[side] })),
    );
  const pick = (side: "from" | "to", n: number | null) =>
    n === null ? null : (ports(side)[n % ports(side).length] ?? null);
  const stream = { name: `s${i}`, from: pick("to", from), to: pick("from", to) };
  if (stream.from === null && stream.to === null) return [];
  // What only sources can promise is promised by sources.
  return [
    {
      ...stream,
      seals: from === null ? seals : [],
      ...(twice && from === null ? { delivery: "at-least-once" as const } : {}),
    },
  ];
}

function assertNowhereWorse(after: Analysis, before: Analysis): void {
  for (const [name, { label }] of after.streams) {
    const was = before.streams.get(name)?.label ?? "Seal";
    assert.ok(severityOf(label) <= severityOf(was), `${name} was ${was} and is ${label}`);
  }
}

describe("for any dataflow", () => {
  test("adding a seal never worsens a label", () => {
    fc.assert(
      fc.property(graph, fc.nat(), seal, (given, n, added) => {
        const chosen = given.streams[n % Math.max(1, given.streams.length)];
        const streams = given.streams.map((each) =>
          each === chosen ? { ...each, seals: [...each.seals, added] } : each,
        );
        assertNowhereWorse(analyze({ ...given, streams }), analyze(given));
      }),
      { numRuns: 300 },
    );
  });

  test("making a path confluent never worsens a label", () => {
    const confluent: Record<AnnotationKind, AnnotationKind> = { CR: "CR", CW: "CW", OR: "CR", OW: "CW" };
    fc.assert(
      fc.property(graph, fc.nat(), fc.nat(), (given, n, m) => {
        const components = given.components.map((component, i) => {
          if (i !== n % given.components.length) return component;
          const paths = component.paths.map((path, j) =>
            j === m % component.paths.length ? { ...path, annotation: confluent[path.annotation] } : path,
          );
          return { ...component, paths };
        });
        assertNowhereWorse(analyze({ ...given, components }), analyze(given));
      }),
      { numRuns: 300 },
    );
  });

  test("naming a gate never worsens a label", () => {
    fc.assert(
      fc.property(graph, attributes, (given, named) => {
        const components = given.components.map((component) => ({
          ...component,
          paths: component.paths.map((path) => (path.gate === "*" ? { ...path, gate: named } : path)),
        }));
        assertNowhereWorse(analyze({ ...given, components }), analyze(given));
      }),
      { numRuns: 300 },
    );
  });

  test("the result does not depend on the order in which it is written down", () => {
    const shuffled = graph.chain((given) =>
      fc.record({
        given: fc.constant(given),
        components: fc.shuffledSubarray([...given.components], { minLength: given.components.length }),
        streams: fc.shuffledSubarray([...given.streams], { minLength: given.streams.length }),
        dependencies: fc.shuffledSubarray([...given.dependencies], { minLength: given.dependencies.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ given, components, ...rest }) => {
        const turned = components.map((each) => ({ ...each, paths: each.paths.toReversed() }));
        assert.deepEqual(
          toJson(analyze({ ...rest, components: turned, accepted: [] })),
          toJson(analyze(given)),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("every anomaly has a fault that it goes back to, and sealing as advised ends the faults that seals can end", () => {
    fc.assert(
      fc.property(graph, (given) => {
        const analysis = analyze(given);
        const faults = advise(analysis);
        const shown = faults.flatMap(({ streams }) => streams.map(({ name }) => name)).toSorted();
        const anomalies = [...analysis.streams.values()].filter(
          ({ label }) => severityOf(label) > severityOf("Async"),
        );
        assert.deepEqual(shown, anomalies.map(({ stream }) => stream.name).toSorted());
        for (const { seal, path, component, rule } of faults) {
          const key = seal?.keys[0]?.seal;
          if (seal === null || key === undefined) continue;
          const streams = given.streams.map((each) =>
            seal.streams.includes(each.name) ? { ...each, seals: [...each.seals, key] } : each,
          );
          const left = advise(analyze({ ...given, streams })).filter(
            (each) => each.path === path && each.rule === rule && each.component === component,
          );
          const still = left.flatMap(({ inputs }) => inputs.map(({ name }) => name));
          assert.ok(!seal.streams.some((name) => still.includes(name)), `${component}: ${still}`);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("a component that lacks an order shows in the verdict", () => {
    fc.assert(
      fc.property(dataflow, (given) => {
        const analysis = analyze(given);
        const lacking = [...planCoordination(analysis).values()].filter(
          ({ coordination, inForce }) => coordination.kind === "order" && inForce.kind !== "order",
        );
        const report = showAnalysis(analysis);
        if (lacking.length > 0) assert.match(report, /^Needs coordination: /m);
        assert.equal(/needs one order for all inputs/.test(report), lacking.length > 0);
      }),
      { numRuns: 300 },
    );
  });

  test("every report can be written", () => {
    fc.assert(
      fc.property(graph, (given) => {
        const analysis = analyze(given);
        for (const name of analysis.streams.keys()) assert.notEqual(showDerivation(name, analysis), "");
        assert.match(toDot(analysis), /^digraph/);
        assert.doesNotMatch(toSvg(analysis), /NaN|Infinity|undefined/);
      }),
      { numRuns: 300 },
    );
  });
});
