import { attach } from "../../analysis/show/attach.js";
import { type Box, layOut, type PlacedBox, type Point } from "../../analysis/show/layout.js";
import { escaped, round } from "../../svg.js";
import type { Part, Pipeline, PipelineStream } from "../pipeline.js";
import { type PartPlacement, placementOf } from "./placement.js";

const CHARACTER_WIDTH = 7.2;
const LINE_HEIGHT = 18;
const PADDING = 12;
const LINE_MAX = 72;
const CAPTION_ABOVE = 6;

/** The pipeline as a picture: each part with its groups, its placement and why; streams as arrows. */
export function pipelineToSvg(pipeline: Pipeline): string {
  const placements = new Map(pipeline.parts.map((part) => [part.name, placementOf(pipeline, part)]));
  const lines = new Map(pipeline.parts.map((part) => [part.name, linesOf(part, placements.get(part.name))]));
  const boxes = pipeline.parts.map(({ name }) => boxOf(name, lines.get(name) ?? []));
  const edges = pipeline.streams.map((stream) => ({
    from: stream.from,
    to: stream.to,
    captionWidth: caption(stream).length * CHARACTER_WIDTH,
  }));
  const { width, height, boxes: placed, ways, captions } = layOut(boxes, edges);
  const edgePoints = attach(edges, placed, ways);
  const arrows = pipeline.streams.map((stream, i) => arrow(stream, edgePoints[i] ?? [], captions[i] ?? null));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" role="img">`,
    `<title>${escaped(pipeline.parts.map((part) => `${part.name}: ${placements.get(part.name)?.where}`).join(", "))}</title>`,
    `<style>${STYLE}</style>`,
    `<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0 10 5 0 10z"/></marker></defs>`,
    `<rect class="ground" width="100%" height="100%"/>`,
    ...arrows,
    ...pipeline.parts.map(({ name }) => drawn(placed.get(name), lines.get(name) ?? [], placements.get(name))),
    "</svg>",
  ].join("\n");
}

const STYLE = [
  "svg{color-scheme:light dark;font:13px ui-sans-serif,system-ui,sans-serif}",
  ".ground{fill:#ffffff}.box{fill:#f6f8fa;stroke:#57606a}.away{fill:#e6f4ea;stroke:#1a7f37}.mixed{fill:#fff8e1;stroke:#8a6100}",
  ".name{fill:#1f2328;font-weight:600}.line{fill:#57606a}.edge{fill:none;stroke:#57606a;stroke-width:1.6}.start{stroke-width:2.8}",
  ".head,.text{fill:#57606a}.text{paint-order:stroke;stroke:#ffffff;stroke-width:4px}",
  "@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.box{fill:#161b22;stroke:#8b949e}.away{fill:#12261e;stroke:#3fb950}",
  ".mixed{fill:#272115;stroke:#d29922}.name{fill:#e6edf3}.line,.head,.text{fill:#a5aeb8}.edge{stroke:#8b949e}.text{stroke:#0d1117}}",
].join("");

function linesOf({ name, groups, context }: Part, placement: PartPlacement | undefined): string[] {
  const memory = context.length === 0 ? "" : ` {${context.join(", ")}}`;
  return [
    `${name}${groups.length === 0 ? "" : ` & ${groups.join(", ")}`}${memory}`,
    `runs on: ${placement?.where ?? ""}`,
    ...(placement?.why ?? []),
    ...(placement?.stages ?? []).filter(({ kind }) => kind !== "part").map((each) => `worker: ${each.name}`),
  ].map((line) => (line.length > LINE_MAX ? `${line.slice(0, LINE_MAX - 1)}…` : line));
}

function boxOf(name: string, lines: readonly string[]): Box {
  return {
    name,
    width: Math.max(...lines.map((line) => line.length)) * CHARACTER_WIDTH + 2 * PADDING,
    height: lines.length * LINE_HEIGHT + 2 * PADDING,
  };
}

function caption({ kind, message, callee }: PipelineStream): string {
  const sent = message.length === 0 ? "" : ` [${message.join(", ")}]`;
  return `${callee} ${kind === "start" ? "»" : "→"}${sent}`;
}

function arrow(stream: PipelineStream, points: readonly Point[], at: Point | null): string {
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
  return (
    `<path class="edge ${stream.kind}" d="${path}" marker-end="url(#head)"/>` +
    `<text class="text" text-anchor="middle" x="${round(x)}" y="${round(y - CAPTION_ABOVE)}">${escaped(caption(stream))}</text>`
  );
}

function drawn(
  box: PlacedBox | undefined,
  lines: readonly string[],
  placement: PartPlacement | undefined,
): string {
  if (box === undefined) return "";
  const { x, y, width, height } = box;
  const look = placement?.where === "workers" ? " away" : placement?.where === "main loop" ? "" : " mixed";
  const text = lines.map(
    (line, i) =>
      `<text class="${i === 0 ? "name" : "line"}" x="${round(x + PADDING)}" y="${round(y + PADDING + LINE_HEIGHT * (i + 1) - 5)}">${escaped(line)}</text>`,
  );
  return `<rect class="box${look}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="8"/>${text.join("")}`;
}
