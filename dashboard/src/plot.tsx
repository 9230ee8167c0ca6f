import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Line {
  readonly label: string;
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

const HEIGHT = 170;

/** Lines over time. Screen readers get the last values as text. */
export function Plot({
  title,
  unit,
  times,
  lines,
}: {
  title: string;
  unit: string;
  times: readonly number[];
  lines: readonly Line[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const at = box.current;
    if (at === null) return;
    const style = getComputedStyle(at);
    const ink = style.color;
    const painted = (colour: string) =>
      style.getPropertyValue(/^var\((.*)\)$/.exec(colour)?.[1] ?? "") || colour;
    const axis = {
      stroke: ink,
      grid: { stroke: "rgba(128, 128, 128, 0.2)", width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const made = new uPlot(
      {
        width: at.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { size: 6 } },
        axes: [axis, { ...axis, size: 56 }],
        scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
        series: [
          {},
          ...lines.map(({ label, colour }) => ({
            label,
            stroke: painted(colour),
            width: 1.5,
            spanGaps: true,
            points: { show: false },
          })),
        ],
      },
      [[], ...lines.map(() => [])],
      at,
    );
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: at.clientWidth, height: HEIGHT }));
    sized.observe(at);
    return () => {
      sized.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData([times.map((at) => at / 1000), ...lines.map(({ values }) => [...values])]);
  }, [times, lines]);
  return (
    <figure class="plot">
      <figcaption>
        <strong>{title}</strong>
        {lines.map(({ label, colour, values }) => (
          <span key={label} class="key">
            <i style={{ background: colour }} aria-hidden="true" /> {label} {shown(values.at(-1), unit)}
          </span>
        ))}
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

function shown(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "–";
  return `${value >= 100 ? Math.round(value) : value.toPrecision(3)}${unit === "" ? "" : ` ${unit}`}`;
}
