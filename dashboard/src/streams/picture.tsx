import { useMemo } from "preact/hooks";
import { type Layout, layOut, type Point } from "../../../src/analysis/show/layout.js";
import { hrefOf } from "../place.js";
import type { LiveStream } from "./graph.js";

const CHARACTER_PX = 7.2;
const HEIGHT_PX = 40;

/**
 * The query graph: streams on the left, queries behind what they read, each with its label in the colour of its severity. It is laid out
 * anew only when the graph changes, so that figures can change every second in a graph of hundreds of queries.
 */
export function GraphPicture({ streams, chosen }: { streams: readonly LiveStream[]; chosen: string | null }) {
  const shape = JSON.stringify(streams.map(({ name, inputs, label }) => [name, inputs, label?.text]));
  const { layout, edges } = useMemo(() => laidOut(streams), [shape]);
  return (
    <section class="card picture" aria-label="Query graph" tabIndex={0}>
      <svg width={layout.width} height={layout.height} viewBox={`0 0 ${layout.width} ${layout.height}`}>
        <title>Query graph</title>
        {edges.map(({ from, to }, i) => (
          <path key={`${from} ${to}`} class="edge" d={pathOf(layout, from, to, layout.ways[i] ?? [])} />
        ))}
        {streams.map((stream) => {
          const box = layout.boxes.get(stream.name);
          if (box === undefined) return null;
          const { name, label, kind } = stream;
          return (
            <g key={name} transform={`translate(${box.x} ${box.y})`}>
              <a
                href={hrefOf("streams", name)}
                class={`box ${kind} ${name === chosen ? "chosen" : ""} ${label === null ? "" : `label-${label.severity}`}`}
              >
                <rect width={box.width} height={box.height} rx={kind === "stream" ? 3 : 12} />
                <text x={box.width / 2} y={16}>
                  {name}
                </text>
                <text class="under" x={box.width / 2} y={32}>
                  {underOf(stream)}
                </text>
              </a>
            </g>
          );
        })}
      </svg>
    </section>
  );
}

function underOf({ label, kind, perSecond }: LiveStream): string {
  const rate = perSecond > 0 ? ` ${perSecond >= 10 ? Math.round(perSecond) : perSecond.toFixed(1)}/s` : "";
  return `${label === null ? kind : label.text}${rate}`;
}

function laidOut(streams: readonly LiveStream[]) {
  const boxes = streams.map((each) => {
    const under = `${each.label?.text ?? each.kind} 00000/s`;
    return {
      name: each.name,
      width: 24 + CHARACTER_PX * Math.max(each.name.length, under.length),
      height: HEIGHT_PX,
    };
  });
  const edges = streams.flatMap(({ name, inputs }) =>
    inputs.map((from) => ({ from, to: name, captionWidth: 0 })),
  );
  return { layout: layOut(boxes, edges), edges };
}

function pathOf(layout: Layout, from: string, to: string, way: readonly Point[]): string {
  const [start, end] = [layout.boxes.get(from), layout.boxes.get(to)];
  if (start === undefined || end === undefined) return "";
  const points = [
    { x: start.x + start.width, y: start.y + start.height / 2 },
    ...(way.length > 2 ? way : []), // neighbours are joined without a bend
    { x: end.x, y: end.y + end.height / 2 },
  ];
  return points
    .map(({ x, y }, i) => {
      const before = points[i - 1];
      if (before === undefined) return `M${x} ${y}`;
      const middle = (before.x + x) / 2;
      return `C${middle} ${before.y} ${middle} ${y} ${x} ${y}`;
    })
    .join("");
}
