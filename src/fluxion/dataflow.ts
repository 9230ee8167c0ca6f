import type { Component, ComponentPath, Dataflow, Stream } from "../analysis/index.js";
import type { Part, Pipeline } from "./pipeline.js";

/**
 * The pipeline as a dataflow (Blazes), so that `headwater analyze` can say what its placement is worth. A part without
 * state is confluent: its messages may overtake each other. A part with state takes them in their order; the main loop
 * gives that order, so it is coordinated already, and the reason is written down. State that a moved part only looks at
 * stays on the main loop: its value comes with each message, and the part has none.
 */
export function dataflowOf({ parts, streams, groups, stages }: Pipeline): Dataflow {
  const components = parts
    .filter(({ name }) => name !== "main")
    .map((part) => componentOf(part, groups, stages));
  const names = new Map<string, number>();
  const unique = (name: string) => {
    const nth = (names.get(name) ?? 0) + 1;
    names.set(name, nth);
    return nth === 1 ? name : `${name} ${nth}`;
  };
  const inner = streams.map(
    ({ from, to, callee, place }): Stream => ({
      name: unique(`${callee} ${to}`),
      from: from === "main" ? null : { component: from, interface: "out" },
      to: { component: to, interface: "in" },
      seals: [],
      position: { source: place.file, line: place.line, column: place.column },
    }),
  );
  const answers = components.map(
    ({ name }): Stream => ({
      name: unique(`effects of ${name}`),
      from: { component: name, interface: "effects" },
      to: null,
      seals: [],
    }),
  );
  const all = [...inner, ...answers];
  return {
    components,
    streams: all,
    dependencies: [],
    accepted: all.map(({ name }) => ({ ...AS_BEFORE, stream: name })),
  };
}

/** Requests come in any order, and answers that depend on it did so in the original. Copies that differ would be new. */
const AS_BEFORE = { label: "Run" as const, reason: "requests come in any order, as they did before" };

function componentOf(part: Part, groups: Pipeline["groups"], stages: Pipeline["stages"]): Component {
  const { name, place } = part;
  const position = { source: place.file, line: place.line, column: place.column };
  const moved = stages.find(
    (stage) => stage.kind === "part" && stage.place.file === place.file && stage.place.start === place.start,
  );
  const isSent = ({ name: of, written }: Part["state"][number]) =>
    !written && moved?.inputs.includes(of) === true;
  const stateless = part.stateless || part.state.every(isSent);
  const path = (to: string): ComponentPath => ({
    from: "in",
    to,
    annotation: stateless ? "CR" : "OW",
    gate: stateless ? "*" : [],
    position,
  });
  const own = groups.filter((group) => group.parts.includes(name)).map((group) => group.name);
  const reason = `its messages are handled one at a time on the main loop${own.length === 0 ? "" : ` (${own.join(", ")})`}`;
  return {
    name,
    paths: [path("out"), path("effects")],
    // The main loop orders only what runs there.
    ...(moved === undefined ? {} : { rep: true }),
    ...(stateless || moved !== undefined ? {} : { coordination: { kind: "order" as const, reason } }),
    position,
  };
}
