import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { clock } from "./format.js";

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
  const isDark = useDark();
  useEffect(() => {
    const at = box.current;
    if (at === null) return;
    const style = getComputedStyle(at);
    const ink = style.color;
    const painted = (colour: string) =>
      style.getPropertyValue(/^var\((.*)\)$/.exec(colour)?.[1] ?? "") || colour;
    const axis = {
      stroke: painted("var(--faint)") || ink,
      grid: { stroke: painted("var(--edge)"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const made = new uPlot(
      {
        width: at.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, points: { size: 6 } },
        axes: [
          {
            ...axis,
            size: 28,
            values: (_, splits) => splits.map((at) => (at === null ? "" : clock(1000 * at))),
            space: 90,
          },
          { ...axis, size: 52 },
        ],
        scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
        series: [
          {},
          ...lines.map(({ label, colour }) => ({
            label,
            stroke: painted(colour),
            width: 1.75,
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
  }, [isDark]);
  useEffect(() => {
    plot.current?.setData([times.map((at) => at / 1000), ...lines.map(({ values }) => [...values])]);
  }, [times, lines, isDark]);
  return (
    <figure class="card plot">
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

/** Colours of a canvas are drawn, not styled: it is drawn anew when the setting of the system changes. */
function useDark(): boolean {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const changed = () => setDark(DARK.matches);
    DARK.addEventListener("change", changed);
    return () => DARK.removeEventListener("change", changed);
  }, []);
  return isDark;
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

function shown(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "–";
  return `${value >= 100 || Number.isInteger(value) ? Math.round(value) : value.toPrecision(3)}${unit === "" ? "" : ` ${unit}`}`;
}
