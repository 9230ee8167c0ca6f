import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { chart } from "#src/chart/chart.js";
import { formatted, scaleFor } from "#src/chart/scale.js";
import { boxesIn, troubleIn } from "./boxes.js";

const figures = new URL("../../docs/figures/", import.meta.url);
const panel = { x: { label: "hosts" }, y: { label: "events per second" } };

test("a chart is well-formed, says what it shows, and escapes it", () => {
  const svg = chart({
    title: "a < b & c",
    panels: [{ ...panel, lines: [{ name: `"one"`, points: [[0, 1]] }] }],
  });
  assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  assert.match(svg, /<title>a &lt; b &amp; c<\/title>/);
  assert.match(svg, />&quot;one&quot;<\/text>/);
  const open: string[] = [];
  for (const [, end, name = "", self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (end) assert.equal(open.pop(), name);
    else if (!self) open.push(name);
  }
  assert.deepEqual(open, []);
  assert.match(svg, /prefers-color-scheme:dark/);
});

test("lines go where their values are", () => {
  const lines = [
    {
      name: "line",
      points: [
        [0, 0],
        [5, 50],
        [10, 100],
      ] as const,
    },
  ];
  const [, path = ""] =
    /class="line c0" d="(M[^"h]*)"\/><circle/.exec(chart({ title: "t", panels: [{ ...panel, lines }] })) ??
    [];
  const [first, middle, last] = path
    .slice(1)
    .split("L")
    .map((point) => point.split(" ").map(Number));
  assert.ok(first && middle && last);
  assert.equal(middle[0], ((first[0] ?? 0) + (last[0] ?? 0)) / 2);
  assert.equal(middle[1], ((first[1] ?? 0) + (last[1] ?? 0)) / 2);
  assert.ok((last[1] ?? 0) < (first[1] ?? 0), "more is further up");
});

test("words do not run into one another, however many lines and marks there are", () => {
  const lines = Array.from({ length: 9 }, (_, i) => ({
    name: `line number ${i}`,
    points: [
      [1, 10 ** i],
      [128, 3],
    ] as const,
  }));
  const marks = [10, 11, 12, 60, 128].map((x) => ({ x, text: `something happens at ${x}` }));
  const full = {
    title: "of everything",
    x: { label: "x", log: true },
    y: { label: "y", log: true },
    lines,
    marks,
  };
  const svg = chart({ title: "A title", note: "A note that is long. ".repeat(20), panels: [full, full] });
  assert.ok(boxesIn(svg).length > 60);
  assert.deepEqual(troubleIn(svg), []);
});

test("the check for words that run into one another finds them", () => {
  const svg = `<svg viewBox="0 0 100 100"><text class="text" x="5" y="20">first</text><text class="text" x="15" y="22">second</text></svg>`;
  assert.deepEqual(troubleIn(svg), [`"first" and "second" overlap`]);
});

test("axes have round numbers", () => {
  assert.deepEqual(scaleFor({}, [3, 97], 0, 100).ticks, [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(scaleFor({ log: true }, [1, 128], 0, 1).ticks, [1, 2, 4, 8, 16, 32, 64, 128]);
  assert.deepEqual(scaleFor({ log: true }, [2, 90_000], 0, 1).ticks, [1, 10, 100, 1000, 10_000, 100_000]);
  assert.deepEqual([0, 0.25, 1000, 20_000, 1.5e6].map(formatted), ["0", "0.25", "1000", "20k", "1.5M"]);
  assert.equal(scaleFor({}, [], 0, 1).ticks.length > 1, true);
});

test("the figures of the docs are readable, and have their data beside them", () => {
  const drawnByHand = "headwater.svg";
  const pictures = readdirSync(figures).filter((name) => name.endsWith(".svg") && name !== drawnByHand);
  assert.ok(pictures.length >= 4);
  for (const name of pictures) {
    assert.deepEqual(troubleIn(readFileSync(new URL(name, figures), "utf8")), [], name);
    const [bench = ""] = name.split(/-(?:before|latency|seals|\d)|\.svg/);
    const data = new URL(`${bench}.json`, figures);
    assert.ok(existsSync(data), `${name} has its data in ${bench}.json`);
    JSON.parse(readFileSync(data, "utf8"));
  }
});
