import { relative } from "node:path";
import type { Diagnostic, HandlerRoute, Pipeline, Place, Stage } from "../pipeline.js";

/** What was decided, for people. */
export function showPipeline(pipeline: Pipeline, folder: string): string {
  const { parts, stages, groups, diagnostics, uncut, routes } = pipeline;
  const at = placeIn(folder);
  const called = callerOf(routes);
  return [
    `${count(parts.length, "part")}, ${count(stages.length, "stage")} that can run on workers, ${count(groups.length, "group")}`,
    ...section(
      "Stages",
      stages.map((stage) => showStage(stage, called(stage.name, stage.place), at)),
    ),
    ...section(
      "Groups",
      groups.map(
        ({ name, parts: members, replicable }) =>
          `${name}: ${members.join(", ")}${replicable ? " (nothing of it outlives a request)" : ""}`,
      ),
    ),
    ...section("Stays on the main loop", bySubject(diagnostics, called, at)),
    ...section(UNCUT, bySubject(uncut, called, at)),
    ...(stages.length + diagnostics.length === 0 ? NOTHING : []),
  ].join("\n");
}

const NOTHING = [
  "",
  "No handler, listener or continuation was found that could leave the main loop. Is this the file that registers the handlers?",
  "A file that only starts another process, or gives its handlers to code of packages, has none: compile the file that it starts.",
];

const UNCUT = "Stays in one part with what follows";

/** Awaits that are not rupture points; nothing if there are none. */
export function showUncut({ uncut, routes }: Pipeline, folder: string): string {
  return section(UNCUT, bySubject(uncut, callerOf(routes), placeIn(folder)))
    .join("\n")
    .trim();
}

export function placeIn(folder: string): (place: Place) => string {
  return ({ file, line, column }) => `${relative(folder, file) || file}:${line}:${column}`;
}

/** How people call a part, or a call in it: by the route that is answered there. */
type Called = (name: string, place: Place) => string;

export function callerOf(routes: readonly HandlerRoute[]): Called {
  return (name, place) => {
    const around = routes.filter((each) => isInside(place, each.place));
    const [inner] = around.toSorted((a, b) => b.place.start - a.place.start);
    if (inner === undefined) return name;
    if (!isInside(inner.place, place)) return `${name} in ${inner.route}`;
    return ANONYMOUS.test(name) ? inner.route : `${name} (${inner.route})`;
  };
}

const ANONYMOUS = /^anonymous_\d+$/;

export function isInside({ file, start, end }: Place, outer: Place): boolean {
  return file === outer.file && start >= outer.start && end <= outer.end;
}

function showStage(
  { kind, place, inputs, receivers, weight, measuredMs, watched }: Stage,
  name: string,
  at: (place: Place) => string,
): string {
  const what = {
    part: "the whole part",
    awaited: "a call that is awaited",
    cut: "a call; an await is put in",
    posted: "a call that goes on later",
  }[kind];
  const sent = inputs.length === 0 ? "nothing" : inputs.join(", ");
  const back = receivers.map((each) => each.name).join(", ");
  const found = measuredMs === undefined ? "plainly" : `measured ${Number(measuredMs.toPrecision(2))} ms,`;
  const worth =
    weight === "trivial"
      ? `; ${found} not worth it`
      : measuredMs === undefined
        ? ""
        : `; ${found} moves at once`;
  const watches = watched === undefined ? "" : `; watched: ${watched.package}`;
  return `${at(place)} ${name}: ${what}${watches}; sends ${sent}${back === "" ? "" : `; effects on ${back}`}${worth}`;
}

function bySubject(
  diagnostics: readonly Diagnostic[],
  called: Called,
  at: (place: Place) => string,
): string[] {
  const subjects = new Map<string, Diagnostic[]>();
  for (const each of diagnostics) {
    const key = `${at(each.subjectPlace)} ${called(each.subject, each.subjectPlace)}`;
    subjects.set(key, [...(subjects.get(key) ?? []), each]);
  }
  return [...subjects].flatMap(([subject, own]) => [subject, ...reasons(own, at)]);
}

/** Of one code, more reasons than these say nothing new. */
const LIKE_MAX = 3;

function reasons(own: readonly Diagnostic[], at: (place: Place) => string): string[] {
  const alike = new Map<string, number>();
  for (const { code } of own) alike.set(code, (alike.get(code) ?? 0) + 1);
  const shown = new Map<string, number>();
  return own.flatMap(({ code, place, reason, advice }) => {
    const nth = (shown.get(code) ?? 0) + 1;
    shown.set(code, nth);
    if (nth > LIKE_MAX) return [];
    const more = nth === LIKE_MAX ? (alike.get(code) ?? nth) - nth : 0;
    return [
      `  ${code} ${at(place)}: ${reason}`,
      ...(advice === "" ? [] : [`    ${advice}`]),
      ...(more === 0 ? [] : [`    … and ${more} more like it`]),
    ];
  });
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
