import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { analyze, toSvg } from "headwater/analysis";
import fc from "../properties.js";
import { analysisOf, exampleNames, exampleText } from "./dataflows.js";
import { dataflow } from "./random-dataflows.js";

interface Rectangle {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

type Point = readonly [x: number, y: number];

const SAMPLES = 24;
const CHARACTER_WIDTH = 7.4;

function unescaped(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll("&quot;", '"');
}

/** Where captions and boxes are. */
function obstacles(svg: string): { captions: Rectangle[]; boxes: Rectangle[] } {
  const captions = [
    ...svg.matchAll(/<text class="text \w+" text-anchor="middle" x="([-\d.]+)" y="([-\d.]+)">([^<]*)</g),
  ];
  const boxes = [
    ...svg.matchAll(/<rect class="box" x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"/g),
  ];
  return {
    captions: captions.map(([, x, y, text = ""]) => {
      const half = (unescaped(text).length * CHARACTER_WIDTH) / 2;
      return {
        name: text,
        left: Number(x) - half,
        right: Number(x) + half,
        top: Number(y) - 10,
        bottom: Number(y) + 2,
      };
    }),
    boxes: boxes.map(([, x, y, width, height]) => ({
      name: `the box at ${x},${y}`,
      left: Number(x) + 1,
      right: Number(x) + Number(width) - 1,
      top: Number(y) + 1,
      bottom: Number(y) + Number(height) - 1,
    })),
  };
}

/** Points along each edge. */
function edges(svg: string): Point[][] {
  return [...svg.matchAll(/<path class="edge [^"]*" d="M([^"]*)"/g)].map(([, text = ""]) => {
    const [start = "", ...curves] = text.split("C");
    const numbers = (part: string) => part.trim().split(/[ ,]+/).map(Number);
    let [x = 0, y = 0] = numbers(start);
    return curves.flatMap((curve) => {
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0] = numbers(curve);
      const from = [x, y] as const;
      [x, y] = [x3, y3];
      return Array.from({ length: SAMPLES + 1 }, (_, i): Point => {
        const t = i / SAMPLES;
        const at = (a: number, b: number, c: number, d: number) =>
          (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d;
        return [at(from[0], x1, x2, x3), at(from[1], y1, y2, y3)];
      });
    });
  });
}

function isIn([x, y]: Point, { left, right, top, bottom }: Rectangle): boolean {
  return x > left && x < right && y > top && y < bottom;
}

function assertLegible(svg: string): void {
  const { captions, boxes } = obstacles(svg);
  assert.equal(captions.length, edges(svg).length);
  for (const points of edges(svg)) {
    for (const place of [...captions, ...boxes]) {
      const hit = points.find((point) => isIn(point, place));
      assert.equal(hit, undefined, `a line runs through ${place.name} at ${hit}`);
    }
  }
  for (const [i, one] of captions.entries()) {
    for (const other of [...captions.slice(i + 1), ...boxes]) {
      const apart =
        one.right <= other.left ||
        other.right <= one.left ||
        one.bottom <= other.top ||
        other.bottom <= one.top;
      assert.ok(apart, `${one.name} lies on ${other.name}`);
    }
  }
}

describe("in a picture, no line runs through a caption or a box, and no caption lies on another", () => {
  for (const name of exampleNames()) {
    test(`of ${name}`, async () => assertLegible(toSvg(await analysisOf(exampleText(name)))));
  }
  test("of any dataflow", () => {
    fc.assert(
      fc.property(dataflow, (graph) => assertLegible(toSvg(analyze(graph)))),
      { numRuns: 200 },
    );
  });
});
