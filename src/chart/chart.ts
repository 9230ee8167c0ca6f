import { escaped, round } from "../svg.js";
import { type AxisScale, formatted, scaleFor } from "./scale.js";

/**
 * Line charts as SVG pictures that need nothing else. Their colours follow the reader's light or dark setting, and lines
 * differ in their dashes too.
 */
export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
  readonly dashed?: boolean;
  /** The value holds until the next point. */
  readonly steps?: boolean;
  /** Only the points. */
  readonly dots?: boolean;
  /** Lines with the same number have the same colour; by default each has its own. */
  readonly colour?: number;
}

export interface Axis {
  readonly label: string;
  readonly log?: boolean;
  readonly min?: number;
  readonly max?: number;
}

export interface Panel {
  readonly title?: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  /** Moments to point out: a vertical line with a word to it. */
  readonly marks?: readonly { readonly x: number; readonly text: string }[];
}

export interface Figure {
  readonly title: string;
  /** What to know about it, in a sentence or two. */
  readonly note?: string;
  /** One below the other. */
  readonly panels: readonly Panel[];
}

const [WIDTH, LEFT, RIGHT] = [760, 74, 24];
const PLOT_HEIGHT = 220;
const [TITLE_HEIGHT, LEGEND_LINE, AXIS_HEIGHT, PANEL_GAP] = [34, 18, 46, 14];
const CHARACTER_WIDTH = 7;
const NOTE_CHARACTERS = 108;
/** Told apart also by people who do not see red and green as others do. */
const COLOURS = [
  ["#0b62a4", "#6cb6ff"],
  ["#b3541e", "#ffa657"],
  ["#1a7f5a", "#56d4a8"],
  ["#8a3ffc", "#d2a8ff"],
  ["#8c6d00", "#e3c04b"],
  ["#57606a", "#a5aeb8"],
] as const;

const STYLE = [
  "svg{color-scheme:light dark;font:12px ui-sans-serif,system-ui,sans-serif}",
  ".ground{fill:#fff}.title{font-size:15px;font-weight:600;fill:#1f2328}.panel{font-weight:600;fill:#1f2328}.text{fill:#57606a}",
  ".grid{stroke:#d8dee4}.axis{stroke:#57606a}.mark{stroke:#8b949e;stroke-dasharray:3 3}.line{fill:none;stroke-width:1.8}.dashed{stroke-dasharray:6 4}",
  ...COLOURS.map(([light], i) => `.c${i}{stroke:${light}}.d${i}{fill:${light}}`),
  "@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.title,.panel{fill:#e6edf3}.text{fill:#a5aeb8}.grid{stroke:#30363d}.axis{stroke:#8b949e}",
  ...COLOURS.map(([, dark], i) => `.c${i}{stroke:${dark}}.d${i}{fill:${dark}}`),
  "}",
].join("");

export function chart({ title, note, panels }: Figure): string {
  const parts: string[] = [text("title", LEFT - 50, 24, title)];
  let top = TITLE_HEIGHT;
  for (const line of note === undefined ? [] : wrapped(note, NOTE_CHARACTERS)) {
    parts.push(text("text", LEFT - 50, top + 12, line));
    top += LEGEND_LINE;
  }
  for (const panel of panels) {
    const { svg, bottom } = drawn(panel, top + PANEL_GAP);
    parts.push(svg);
    top = bottom;
  }
  const height = Math.ceil(top + 8);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="100%" height="100%"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function drawn(panel: Panel, from: number): { readonly svg: string; readonly bottom: number } {
  const { title, lines, marks = [] } = panel;
  const legend = legendOf(lines);
  let top = from;
  const parts: string[] = [];
  if (title !== undefined) {
    parts.push(text("panel", LEFT - 50, top + 12, title));
    top += LEGEND_LINE;
  }
  for (const row of legend) {
    for (const { line, index, x } of row) parts.push(legendEntry(line, index, x, top));
    top += LEGEND_LINE;
  }
  top += marks.length > 0 ? LEGEND_LINE + 4 : 8;
  const points = lines.flatMap((line) => line.points);
  const x = scaleFor(
    panel.x,
    points.map(([value]) => value),
    LEFT,
    WIDTH - RIGHT,
  );
  const y = scaleFor(
    panel.y,
    points.map(([, value]) => value),
    top + PLOT_HEIGHT,
    top,
  );
  parts.push(axes(panel, x, y, top));
  parts.push(...marksIn(marks, x, top));
  for (const [i, line] of lines.entries()) parts.push(lineDrawn(line, i, x, y));
  return { svg: parts.join("\n"), bottom: top + PLOT_HEIGHT + AXIS_HEIGHT };
}

function axes(panel: Panel, x: AxisScale, y: AxisScale, top: number): string {
  const bottom = top + PLOT_HEIGHT;
  const parts: string[] = [];
  for (const value of y.ticks) {
    const at = round(y.at(value));
    parts.push(`<path class="grid" d="M${LEFT} ${at}H${WIDTH - RIGHT}"/>`);
    parts.push(text("text", LEFT - 8, at + 4, formatted(value), "end"));
  }
  for (const value of x.ticks) {
    const at = round(x.at(value));
    parts.push(
      `<path class="axis" d="M${at} ${bottom}v5"/>`,
      text("text", at, bottom + 18, formatted(value), "middle"),
    );
  }
  parts.push(`<path class="axis" d="M${LEFT} ${bottom}H${WIDTH - RIGHT}"/>`);
  parts.push(text("text", (LEFT + WIDTH - RIGHT) / 2, bottom + 36, panel.x.label, "middle"));
  const middle = top + PLOT_HEIGHT / 2;
  parts.push(
    `<text class="text" text-anchor="middle" transform="translate(${LEFT - 54} ${middle}) rotate(-90)">${escaped(panel.y.label)}</text>`,
  );
  return parts.join("\n");
}

/** Words that would run into one another are left out, their lines are not. */
function marksIn(marks: NonNullable<Panel["marks"]>, x: AxisScale, top: number): string[] {
  let free = LEFT - 40;
  return marks
    .toSorted((a, b) => a.x - b.x)
    .map((mark) => {
      const at = round(x.at(mark.x));
      const line = `<path class="mark" d="M${at} ${top}v${PLOT_HEIGHT}"/>`;
      const half = (mark.text.length * CHARACTER_WIDTH) / 2;
      const middle = Math.min(Math.max(at, LEFT - 40 + half), WIDTH - half - 4);
      if (middle - half < free) return line;
      free = middle + half + CHARACTER_WIDTH;
      return line + text("text", middle, top - 6, mark.text, "middle");
    });
}

function lineDrawn(
  { points, steps, dashed, dots, colour }: Line,
  index: number,
  x: AxisScale,
  y: AxisScale,
): string {
  const own = (colour ?? index) % COLOURS.length;
  const placed = points
    .filter(([, value]) => y.has(value))
    .map(([a, b]) => [round(x.at(a)), round(y.at(b))] as const);
  const circles = placed.map(([a, b]) => `<circle class="d${own}" cx="${a}" cy="${b}" r="3"/>`);
  if (dots) return circles.join("");
  const path = placed
    .map(([a, b], i) => (i === 0 ? `M${a} ${b}` : steps ? `H${a}V${b}` : `L${a} ${b}`))
    .join("");
  const few = placed.length <= 12 && !steps && !dashed ? circles.join("") : "";
  return `<path class="line c${own}${dashed ? " dashed" : ""}" d="${path}"/>${few}`;
}

interface Entry {
  readonly line: Line;
  readonly index: number;
  readonly x: number;
}

/** Entries side by side, in as many rows as they need. */
function legendOf(lines: readonly Line[]): Entry[][] {
  const rows: Entry[][] = [];
  let x = WIDTH;
  for (const [index, line] of lines.entries()) {
    const width = 34 + line.name.length * CHARACTER_WIDTH + 14;
    if (x + width > WIDTH - RIGHT) {
      rows.push([]);
      x = LEFT - 50;
    }
    rows.at(-1)?.push({ line, index, x });
    x += width;
  }
  return rows;
}

function legendEntry({ name, dashed, dots, colour }: Line, index: number, x: number, top: number): string {
  const own = (colour ?? index) % COLOURS.length;
  const sign = dots
    ? `<circle class="d${own}" cx="${x + 13}" cy="${top + 8}" r="3"/>`
    : `<path class="line c${own}${dashed ? " dashed" : ""}" d="M${x} ${top + 8}h26"/>`;
  return sign + text("text", x + 34, top + 12, name);
}

function text(kind: string, x: number, y: number, words: string, anchor?: "middle" | "end"): string {
  const anchored = anchor === undefined ? "" : ` text-anchor="${anchor}"`;
  return `<text class="${kind}"${anchored} x="${round(x)}" y="${round(y)}">${escaped(words)}</text>`;
}

function wrapped(words: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of words.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
