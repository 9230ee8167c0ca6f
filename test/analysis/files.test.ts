import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { HeadwaterError } from "headwater";
import { analyze, type Dataflow, readDataflow } from "headwater/analysis";
import fc from "../properties.js";
import { AD_NETWORK, WORDCOUNT } from "./dataflows.js";

/** What is said about a text that is refused. */
async function refusal(text: string): Promise<string> {
  try {
    await readDataflow(text, { source: "flow.yaml" });
  } catch (error) {
    assert.ok(error instanceof HeadwaterError, String(error));
    assert.equal(error.code, "HW-5001", error.message);
    return error.message.replace("HW-5001: ", "");
  }
  assert.fail("it was not refused");
}

const one = (path: string) => `A:\n  annotation: ${path}\n`;
const A = one("{ from: in, to: out, label: OW, subscript: [k] }");

describe("an annotation file", () => {
  test("has the paper's word count, as printed", async () => {
    const { components, streams } = await readDataflow(WORDCOUNT);
    assert.deepEqual(
      components.map(({ name, paths }) => [name, paths.map((each) => [each.annotation, each.gate])]),
      [
        ["Splitter", [["CR", "*"]]],
        ["Count", [["OW", ["word", "batch"]]]],
        ["Commit", [["CW", "*"]]],
      ],
    );
    assert.deepEqual(streams.map(({ name }) => name).toSorted(), ["counts", "db", "tweets", "words"]);
  });

  test("has the paper's ad network, as printed: the queries belong to Report", async () => {
    const { components } = await readDataflow(AD_NETWORK);
    assert.deepEqual(
      components.map(({ name, rep, paths }) => [name, rep, paths.length]),
      [
        ["Cache", undefined, 3],
        ["Report", true, 5],
      ],
    );
  });

  test("may have the queries inside the component", async () => {
    const inside = AD_NETWORK.replace(/^(POOR|THRESH|WINDOW|CAMPAIGN)/gm, "  $1");
    const paths = ({ components }: Dataflow) =>
      components[1]?.paths.map(({ from, to, annotation, gate }) => [from, to, annotation, gate]);
    assert.deepEqual(paths(await readDataflow(inside)), paths(await readDataflow(AD_NETWORK)));
  });

  test("says everything about streams, dependencies and acceptances that there is to say", async () => {
    const { streams, dependencies, accepted } = await readDataflow(`${A}
streams:
  - { name: in, to: A, seal: [[k], [x, y]], watermark: t, Rep: true, delivery: at-least-once, id: e, attributes: [k, x, y, t, e] }
  - { name: out, from: A.out }
dependencies:
  - { from: company, to: [symbol], injective: true }
  - { from: t, to: hour, order-preserving: true }
accept:
  - { stream: out, label: Run, reason: it is a demo }
`);
    assert.deepEqual(streams, [
      {
        name: "in",
        from: null,
        to: { component: "A", interface: "in" },
        seals: [
          { key: ["k"], prefix: false },
          { key: ["x", "y"], prefix: false },
          { key: ["t"], prefix: true },
        ],
        rep: true,
        delivery: "at-least-once",
        id: ["e"],
        attributes: ["k", "x", "y", "t", "e"],
        position: { source: "dataflow", line: 5, column: 5 },
      },
      {
        name: "out",
        from: { component: "A", interface: "out" },
        to: null,
        seals: [],
        position: { source: "dataflow", line: 6, column: 5 },
      },
    ]);
    assert.deepEqual(dependencies, [
      { from: ["company"], to: ["symbol"], injective: true, orderPreserving: false },
      { from: ["t"], to: ["hour"], injective: false, orderPreserving: true },
    ]);
    assert.deepEqual(accepted, [
      {
        stream: "out",
        label: "Run",
        reason: "it is a demo",
        position: { source: "dataflow", line: 11, column: 5 },
      },
    ]);
  });

  test("says how streams travel: in which order, from how many writers, with which watermark, and as what", async () => {
    const { streams } = await readDataflow(`${A}
streams:
  - { name: in, to: A.in, ordered: [k], changelog: [k], attributes: { k: int, t: timestamptz } }
  - { name: more, to: A.in, ordered: all, writer: single, watermark: { attribute: t, late: true } }
`);
    const [first, second] = streams;
    assert.deepEqual([first?.ordered, first?.changelog], [["k"], ["k"]]);
    assert.deepEqual([first?.attributes, first?.types], [["k", "t"], { k: "number", t: "instant" }]);
    assert.deepEqual([second?.ordered, second?.singleWriter], [[], true]);
    assert.deepEqual(second?.seals, [{ key: ["t"], prefix: true, late: true }]);
  });

  test("lets seals and gates name what declared attributes determine", async () => {
    const text = `${A}streams: { in: { attributes: [time], seal: [time] } }\ndependencies: [{ from: time, to: k }]\n`;
    assert.equal((await readDataflow(text)).streams.length, 2);
  });

  test("says what attributes are made of", async () => {
    const { components } = await readDataflow(
      one(
        "{ from: in, to: out, label: CR, lineage: { id: key, hour: { from: t, order-preserving: true } } }",
      ),
    );
    assert.deepEqual(components[0]?.paths[0]?.lineage, [
      { from: ["key"], to: "id", injective: true, orderPreserving: true },
      { from: ["t"], to: "hour", injective: false, orderPreserving: true },
    ]);
  });

  test("may use YAML's anchors", async () => {
    const text = "A:\n  annotation: &path { from: in, to: out, label: CR }\nB:\n  annotation: *path\n";
    assert.equal((await readDataflow(text)).components.length, 2);
  });

  test("hands queries to whoever can read them", async () => {
    const text = "A:\n  sql: select k from clicks\n  tables: { clicks: [k] }\n  to: out\n";
    assert.equal((await readDataflow(text)).components[0]?.paths[0]?.annotation, "CR");
    assert.match(await refusal(text.replace("from clicks", "from click")), /^flow\.yaml:2:8: HW-5103: /);
    const { components, streams } = await readDataflow(text, {
      deriveFromSql: async (sql, tables, to) => {
        assert.equal(sql, "select k from clicks");
        assert.deepEqual(tables, { clicks: ["k"] });
        return { paths: [{ from: "clicks", to, annotation: "CR", gate: "*" }], dependencies: [] };
      },
    });
    assert.equal(components[0]?.paths[0]?.from, "clicks");
    assert.deepEqual(
      streams.map(({ name }) => name),
      ["out", "clicks"],
    );
  });
});

describe("streams follow from the names of interfaces", () => {
  const names = async (text: string) => (await readDataflow(text)).streams.map(({ name }) => name).toSorted();

  test("qualified where one name would be several streams", async () => {
    const both = `${A}B: { annotation: { from: in, to: out, label: CR } }\nC: { annotation: { from: out, to: end, label: CR } }\n`;
    assert.deepEqual(await names(both), ["A.out", "B.out", "end", "to A.in", "to B.in"]);
    const fan = `${A}B: { annotation: { from: out, to: b, label: CR } }\nC: { annotation: { from: out, to: c, label: CR } }\n`;
    assert.deepEqual(await names(fan), ["A.out to B", "A.out to C", "b", "c", "in"]);
  });
  test("but not where the file connects them", async () => {
    const text = `${A}B: { annotation: { from: out, to: end, label: CR } }\nstreams: { mine: { from: A.out, to: B.out } }\n`;
    assert.deepEqual(await names(text), ["end", "in", "mine"]);
  });
});

describe("a file that cannot be read is refused", () => {
  test("with line, column, the line itself and a suggestion", async () => {
    const text = "A:\n  annotation:\n    - { from: in, to: out, label: CR, lable: CR }\n";
    assert.equal(
      await refusal(text),
      [
        'flow.yaml:3:39: An annotation has no key "lable". Did you mean "label"?',
        "  3 |     - { from: in, to: out, label: CR, lable: CR }",
        "    |                                       ^",
      ].join("\n"),
    );
  });

  for (const [what, text, said] of [
    [
      "an unknown annotation",
      one("{ from: in, to: out, label: CWR }"),
      /^flow.yaml:2:43: label cannot be "CWR"\. Did you mean "C[WR]"\?/,
    ],
    [
      "a subscript of a confluent path",
      one("{ from: a, to: b, label: CR, subscript: [k] }"),
      /CR is confluent and takes no subscript/,
    ],
    ["a path without an end", one("{ from: a, label: CR }"), /An annotation needs "to"/],
    ["a component without paths", "A: { Rep: true }\n", /The component A has no annotation/],
    [
      "an unknown key",
      "A: { annotation: { from: a, to: b, label: CR }, Reb: true }\n",
      /has no key "Reb"\. Did you mean "Rep"\?/,
    ],
    [
      "a flag that is none",
      "A: { annotation: { from: a, to: b, label: CR }, Rep: often }\n",
      /Rep is true or false/,
    ],
    [
      "an alternative of nobody",
      "POOR: { from: a, to: b, label: CR }\n",
      /POOR belongs to the component above it/,
    ],
    [
      "a choice that there is not",
      AD_NETWORK.replace("Rep: true", "Rep: true\n  use: POR"),
      /use cannot be "POR"\. Did you mean "POOR"\?/,
    ],
    ["a stream to nowhere", `${A}streams: { s: { to: B.in } }\n`, /There is no component "B"/],
    [
      "an interface that there is not",
      `${A}streams: { s: { to: A.inn } }\n`,
      /A has no input "inn"\. Did you mean "in"\?/,
    ],
    [
      "a stream that there is not",
      `${A}streams: { inn: { seal: [k] } }\n`,
      /There is no stream "inn"\. Did you mean "in"\?/,
    ],
    [
      "a stream twice",
      `${A}streams: [{ name: s, to: A.in }, { name: s, from: A.out }]\n`,
      /There are two streams named "s"/,
    ],
    ["a stream without a name", `${A}streams: [{ to: A.in }]\n`, /A stream needs a name/],
    ["a sample of no records", `${A}streams: { in: { sample: [1] } }\n`, /A record of a sample is a mapping/],
    [
      "an empty sample",
      `${A}streams: { in: { sample: [] } }\n`,
      /A sample is a list of records and not empty/,
    ],
    ["an empty seal", `${A}streams: { in: { seal: [] } }\n`, /not empty/],
    [
      "a delivery that there is not",
      `${A}streams: { in: { delivery: at-lest-once } }\n`,
      /Did you mean "at-least-once"\?/,
    ],
    [
      "a delivery that loses records, which is not nearly at-least-once",
      `${A}streams: { in: { delivery: at-most-once } }\n`,
      /^(?!.*Did you mean).*at-most-once loses records/s,
    ],
    [
      "an alternative of a component that has none",
      `${A.trimEnd()}\n  use: POOR\n`,
      /^flow.yaml:3:3: use names an alternative path, and A has none/,
    ],
    [
      "a seal on a misspelt attribute",
      `${WORDCOUNT}streams: { tweets: { seal: [bacth] } }\n`,
      /A seal of tweets names "bacth", and nothing else does\. Did you mean "batch"\?/,
    ],
    [
      "a seal on an attribute that the stream does not have",
      `${A}streams: { in: { seal: [campaign], attributes: [k, id] } }\n`,
      /A seal of in names "campaign", which records of in do not have\. There are: k, id\./,
    ],
    [
      "a gate with an attribute that the stream does not have",
      `${A}streams: { in: { attributes: [kk, id] } }\n`,
      /^flow.yaml:2:15: A subscript names "k", which records of in do not have\. Did you mean "kk"\?/,
    ],
    [
      "a gate with a misspelt attribute",
      one("{ from: in, to: out, label: OW, subscript: [wrod] }") +
        "B: { annotation: { from: out, to: end, label: OW, subscript: [word] } }\n" +
        "streams: { in: { seal: [word] } }\n",
      /A subscript names "wrod", and nothing else does\. Did you mean "word"\?/,
    ],
    [
      "a type that there is not",
      `${A}streams: { in: { attributes: { k: txt } } }\n`,
      /The type of k cannot be "txt"\. Did you mean "text"\?/,
    ],
    [
      "a watermark without an attribute",
      `${A}streams: { in: { watermark: { late: true } } }\n`,
      /A watermark needs an "attribute"/,
    ],
    [
      "an input that its query does not read",
      "A: { sql: select k from clicks, tables: { clicks: [k], click: [k] }, to: out }\n",
      /HW-5105: The query does not read click, .*Did you mean "clicks"\?/,
    ],
    [
      "an acceptance without a reason",
      `${A}accept: [{ stream: out, label: Run }]\n`,
      /Accepting needs a written reason/,
    ],
    [
      "an acceptance of an empty reason",
      `${A}accept: [{ stream: out, reason: "  " }]\n`,
      /Accepting needs a written reason/,
    ],
    [
      "an acceptance of nobody",
      `${A}accept: [{ stream: outt, reason: demo }]\n`,
      /There is no stream "outt" to accept\. Did you mean "out"\?/,
    ],
    ["half a dependency", `${A}dependencies: [{ from: a }]\n`, /A dependency needs "from" and "to"/],
    [
      "an order between several attributes",
      `${A}dependencies: [{ from: [a, b], to: c, order-preserving: true }]\n`,
      /between two single attributes/,
    ],
    ["YAML that is none", "A: [\n", /^flow.yaml:\d+:\d+: /],
    ["a key twice", `${A}${A}`, /^flow.yaml:3:1: An annotation file has "A" twice/],
    ["a list", "- A\n", /An annotation file is a mapping/],
    ["nothing", "", /An annotation file is a mapping/],
  ] as const) {
    test(`because of ${what}`, async () => {
      assert.match(await refusal(text), said);
    });
  }

  test("with all its problems at once, in the order of the file, and not with too many", async () => {
    const wrong = Array.from({ length: 30 }, (_, i) => `C${i}: { annotation: { from: a, to: b, label: X } }`);
    const message = await refusal(wrong.join("\n"));
    assert.match(message, /^flow.yaml:1:/);
    assert.match(message, /\nand 20 more\.$/);
  });
});

test("any file is read, or refused with the positions of what is wrong with it", async () => {
  const folder = new URL("../../examples/analysis/", import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  const texts = files.map((file) => readFileSync(new URL(file, folder), "utf8"));
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "&a ",
    "*a",
    "!!js ",
    "\t",
    "null",
    "'",
    '"',
    "|",
    "%",
    "<<: ",
    "1e9",
  ];
  const names = [
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
    "sample: [{ a: *x }]\n",
    "streams:\n",
  ];
  const edit = fc.record({
    at: fc.nat(),
    removed: fc.nat(6),
    added: fc.constantFrom("", ...pieces, ...names),
  });
  const mutated = fc.tuple(fc.constantFrom(...texts), fc.array(edit, { minLength: 1, maxLength: 3 }));
  const property = fc.asyncProperty(mutated, async ([text, edits]) => {
    const changed = edits.reduce((before, { at, removed, added }) => {
      const start = at % (before.length + 1);
      return before.slice(0, start) + added + before.slice(start + removed);
    }, text);
    try {
      analyze(await readDataflow(changed, { source: "f.yaml" }));
    } catch (error) {
      assert.ok(error instanceof HeadwaterError, `${changed}\n${(error as Error).stack}`);
      assert.match(error.message, /f\.yaml:\d+:\d+/, changed);
    }
  });
  await fc.assert(property, { numRuns: 300 });
});

test("components may have the names of what every object has, and an alias without its anchor is refused", async () => {
  for (const name of ["constructor", "toString", "hasOwnProperty"]) {
    const graph = await readDataflow(`${name}:\n  annotation: { from: a, to: b, label: CR }\n`, {
      source: "f.yaml",
    });
    assert.equal(graph.components[0]?.name, name);
  }
  const unresolved =
    "C:\n  annotation: { from: a, to: b, label: CR }\nstreams:\n  a: { sample: [{ k: *x }] }\n";
  await assert.rejects(readDataflow(unresolved, { source: "f.yaml" }), /HW-5001.*f\.yaml:4:/s);
});
