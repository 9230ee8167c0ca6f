import type { Diagnostic, Part, Pipeline, Place, Stage } from "../pipeline.js";
import type { SampledTime, TimeAt } from "../profile.js";
import { callerOf, isInside, placeIn } from "./text.js";

/** Less of the time than that is not worth a word. */
const WORTH_SAYING = 0.01;
const PARTS_MAX = 8;
const REASONS_MAX = 3;

/** Where the time of a part went: how much, and how much of that in which package. */
interface Spent {
  readonly part: Part;
  ms: number;
  readonly within: Map<string, number>;
}

/** Where the main loop spends its time, what of that can leave it, and what would have to change for the rest. */
export function showTime(pipeline: Pipeline, time: SampledTime, folder: string): string {
  const { totalMs } = time;
  const spent = spentIn(pipeline, time).filter(({ ms }) => ms >= totalMs * WORTH_SAYING);
  const shown = spent.slice(0, PARTS_MAX);
  const others = totalMs - shown.reduce((sum, { ms }) => sum + ms, 0);
  return [
    `Where the time goes (${seconds(totalMs)} in which the main loop was busy)`,
    ...shown.flatMap((each) => partLines(pipeline, each, totalMs, folder)),
    `  ${percent(others, totalMs)} all else: Node, packages, and what runs outside of handlers`,
  ].join("\n");
}

/** The same pipeline, with what speaks against the parts that take longest in front. */
export function byTime(pipeline: Pipeline, time: SampledTime): Pipeline {
  const spent = spentIn(pipeline, time);
  const msOf = ({ subjectPlace }: Diagnostic) =>
    spent.find(({ part }) => isInside(subjectPlace, part.place))?.ms ?? 0;
  return { ...pipeline, diagnostics: pipeline.diagnostics.toSorted((a, b) => msOf(b) - msOf(a)) };
}

/** By part, the longest first. What a function of the program does for a handler is the time of that handler. */
function spentIn({ parts }: Pipeline, { chains }: SampledTime): Spent[] {
  const found = new Map<Part, Spent>();
  for (const chain of chains) {
    const part = partOf(parts, chain);
    if (part === null) continue;
    const spent = found.get(part) ?? { part, ms: 0, within: new Map<string, number>() };
    found.set(part, spent);
    spent.ms += chain.ms;
    if (chain.within !== null)
      spent.within.set(chain.within, (spent.within.get(chain.within) ?? 0) + chain.ms);
  }
  return [...found.values()].toSorted((a, b) => b.ms - a.ms);
}

/** The innermost part among the functions that were under way. */
function partOf(parts: readonly Part[], { functions }: TimeAt): Part | null {
  for (const each of functions.toReversed()) {
    const [, file = "", line = "", column = ""] = /^(.*):(\d+):(\d+)$/.exec(each) ?? [];
    const [nearest] = parts
      .filter(({ name, place }) => name !== "main" && place.file === file && place.line === Number(line))
      .toSorted((a, b) => distance(a, Number(column)) - distance(b, Number(column)));
    if (nearest !== undefined) return nearest;
  }
  return null;
}

/** V8 says where the parameters begin. */
function distance({ place }: Part, column: number): number {
  return Math.abs(place.column - column);
}

function partLines(
  pipeline: Pipeline,
  { part, ms, within }: Spent,
  totalMs: number,
  folder: string,
): string[] {
  const at = placeIn(folder);
  const called = callerOf(pipeline.routes);
  const [[name, most] = ["", 0]] = [...within].toSorted(([, a], [, b]) => b - a);
  const mostly = most >= ms / 2 ? `, most of it in ${name}` : "";
  const head = `  ${percent(ms, totalMs)} ${called(part.name, part.place)} (${at(part.place)})${mostly}`;
  const moving = pipeline.stages.filter(
    (stage) => stage.weight !== "trivial" && isInside(stage.place, part.place),
  );
  if (moving.length > 0) return [head, `    can leave: ${moving.map(shownStage).join(", ")}`];
  const reasons = reasonsFor(pipeline, part.place);
  if (reasons.length === 0)
    return [head, "    can leave, but there is nothing in it that takes long by itself"];
  return [
    head,
    ...reasons.flatMap(({ code, place, reason, advice }) => [
      `    stays because ${reason} (${code}, ${at(place)})`,
      ...(advice === "" ? [] : [`      to free it: ${advice}`]),
    ]),
  ];
}

function shownStage({ kind, name }: Stage): string {
  return kind === "part" ? "as a whole" : `${name}()`;
}

/** What keeps the part, or the call in it of which least stands in the way. */
function reasonsFor({ diagnostics }: Pipeline, part: Place): readonly Diagnostic[] {
  const subjects = new Map<number, Diagnostic[]>();
  for (const each of diagnostics) {
    if (!isInside(each.subjectPlace, part)) continue;
    const key = each.subjectPlace.start;
    const own = subjects.get(key) ?? [];
    subjects.set(key, own);
    if (!own.some(({ code, reason }) => code === each.code && reason === each.reason)) own.push(each);
  }
  const [fewest = []] = [...subjects.values()].toSorted((a, b) => a.length - b.length);
  return fewest.slice(0, REASONS_MAX);
}

function percent(ms: number, totalMs: number): string {
  return `${totalMs === 0 ? 0 : Math.round((100 * ms) / totalMs)} %`.padStart(5);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
