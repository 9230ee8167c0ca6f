import { escaped, round } from "../../svg.js";
import type { Analysis, LabelledStream } from "../analyze.js";
import type { Component } from "../graph.js";
import { grouped } from "../grouped.js";
import { LABELS, showAnnotation, showLabel } from "../labels.js";
import { attach } from "./attach.js";
import { COLOURS } from "./colours.js";
import { type Box, layOut, loopBelow, type PlacedBox, type Point } from "./layout.js";

const CHARACTER_WIDTH = 7.4;
const LINE_HEIGHT = 18;
const PADDING = 12;
const END_SIZE = 10;
const CAPTION_ABOVE = 6;

/** A picture that needs nothing else: its colours follow the reader's light or dark setting. */
export function toSvg({ topology, streams }: Analysis): string {
  const { components } = topology.graph;
  const all = [...streams.values()];
  const boxes = [...components.map(boxOf), ...all.flatMap(endsOf)];
  const edges = all.map((each) => ({
    ...endNames(each),
    captionWidth: caption(each).length * CHARACTER_WIDTH,
  }));
  const { width, height, boxes: placed, ways, captions } = layOut(boxes, edges);
  const lines = attach(edges, placed, ways);
  const loops = grouped(
    all.filter(({ stream }) => stream.from !== null && stream.from.component === stream.to?.component),
    ({ stream }) => stream.from?.component ?? "",
  );
  const arrows = all.map((each, i) => {
    const { from, to } = edges[i] ?? { from: "", to: "" };
    const box = placed.get(from);
    if (from === to && box !== undefined) return loop(each, box, loops.get(from) ?? []);
    return arrow(each, lines[i] ?? [], captions[i] ?? null);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" role="img">`,
    `<title>${escaped(titleOf(all))}</title>`,
    `<style>${STYLE}</style>`,
    `<defs>${LABELS.map(head).join("")}</defs>`,
    `<rect class="ground" width="100%" height="100%"/>`,
    ...arrows,
    ...components.map((component) => drawn(component, placed.get(component.name))),
    ...all.flatMap(endsOf).map(({ name }) => end(placed.get(name))),
    "</svg>",
  ].join("\n");
}

const STYLE = [
  "svg{color-scheme:light dark;font:13px ui-sans-serif,system-ui,sans-serif}",
  ".ground{fill:#ffffff}.box{fill:#f6f8fa;stroke:#57606a}.name{fill:#1f2328;font-weight:600}.path{fill:#57606a}",
  ".edge{fill:none;stroke-width:1.8}.text{paint-order:stroke;stroke:#ffffff;stroke-width:4px}.accepted{stroke-dasharray:5 4}",
  ...LABELS.map((label) => colourRules(label, "light")),
  "@media (prefers-color-scheme:dark){",
  ".ground{fill:#0d1117}.box{fill:#161b22;stroke:#8b949e}.name{fill:#e6edf3}.path{fill:#a5aeb8}.text{stroke:#0d1117}",
  ...LABELS.map((label) => colourRules(label, "dark")),
  "}",
].join("");

function colourRules(label: (typeof LABELS)[number], ground: "light" | "dark"): string {
  const colour = COLOURS[label][ground];
  return `.edge.${label}{stroke:${colour}}.text.${label},.head.${label}{fill:${colour}}`;
}

function head(label: (typeof LABELS)[number]): string {
  return (
    `<marker id="head-${label}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">` +
    `<path class="head ${label}" d="M0 0 10 5 0 10z"/></marker>`
  );
}

function boxOf(component: Component): Box {
  const lines = [component.name, ...pathLines(component)];
  return {
    name: component.name,
    width: Math.max(...lines.map((line) => line.length)) * CHARACTER_WIDTH + 2 * PADDING,
    height: lines.length * LINE_HEIGHT + 2 * PADDING,
  };
}

function pathLines({ paths }: Component): string[] {
  return paths.map(
    ({ from, to, annotation, gate }) => `${from} → ${to}: ${showAnnotation(annotation, gate)}`,
  );
}

/** A stream from or to the outside ends at a point of its own. No component can have such a name. */
function endNames({ stream }: LabelledStream): { from: string; to: string } {
  return {
    from: stream.from?.component ?? `\0from ${stream.name}`,
    to: stream.to?.component ?? `\0to ${stream.name}`,
  };
}

function endsOf(each: LabelledStream): Box[] {
  const { from, to } = endNames(each);
  return [from, to]
    .filter((name) => name.startsWith("\0"))
    .map((name) => ({ name, width: END_SIZE, height: END_SIZE }));
}

function caption({ stream, label, seals, rep, accepted }: LabelledStream): string {
  const extras = `${rep ? " · Rep" : ""}${accepted === null ? "" : " · accepted"}`;
  return `${stream.name}: ${showLabel(label, seals)}${extras}`;
}

function arrow(each: LabelledStream, points: readonly Point[], at: Point | null): string {
  const [first, second] = points;
  if (first === undefined || second === undefined) return "";
  let path = `M${round(first.x)} ${round(first.y)}`;
  for (const [i, to] of points.entries()) {
    const from = points[i - 1];
    if (from === undefined) continue;
    const bend = (to.x - from.x) / 2;
    path += ` C${round(from.x + bend)} ${round(from.y)} ${round(to.x - bend)} ${round(to.y)} ${round(to.x)} ${round(to.y)}`;
  }
  const { x, y } = at ?? { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 };
  return edge(each, path, x, y - CAPTION_ABOVE);
}

function loop(
  each: LabelledStream,
  { x, y, width, height }: PlacedBox,
  loops: readonly LabelledStream[],
): string {
  const bottom = y + height;
  const { bend, caption: below } = loopBelow(loops.indexOf(each), loops.length);
  const [left, right] = [x + width * 0.35, x + width * 0.65];
  const path = `M${round(right)} ${round(bottom)} C${round(right)} ${round(bottom + bend)} ${round(left)} ${round(bottom + bend)} ${round(left)} ${round(bottom)}`;
  return edge(each, path, x + width / 2, bottom + below);
}

function edge(each: LabelledStream, path: string, x: number, y: number): string {
  const { label, accepted } = each;
  return (
    `<path class="edge ${label}${accepted === null ? "" : " accepted"}" d="${path}" marker-end="url(#head-${label})"/>` +
    `<text class="text ${label}" text-anchor="middle" x="${round(x)}" y="${round(y)}">${escaped(caption(each))}</text>`
  );
}

function drawn(component: Component, box: PlacedBox | undefined): string {
  if (box === undefined) return "";
  const { x, y, width, height } = box;
  const lines = pathLines(component).map(
    (line, i) =>
      `<text class="path" x="${round(x + PADDING)}" y="${round(y + PADDING + LINE_HEIGHT * (i + 2) - 5)}">${escaped(line)}</text>`,
  );
  return (
    `<rect class="box" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="8"/>` +
    `<text class="name" x="${round(x + PADDING)}" y="${round(y + PADDING + LINE_HEIGHT - 5)}">${escaped(component.name)}</text>` +
    lines.join("")
  );
}

function end(box: PlacedBox | undefined): string {
  if (box === undefined) return "";
  const radius = box.width / 2;
  return `<circle class="box" cx="${round(box.x + radius)}" cy="${round(box.y + radius)}" r="${radius}"/>`;
}

function titleOf(all: readonly LabelledStream[]): string {
  const outputs = all.filter(({ stream }) => stream.to === null);
  return outputs.map(({ stream, label, seals }) => `${stream.name} is ${showLabel(label, seals)}`).join(", ");
}
