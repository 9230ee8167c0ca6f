import type { Analysis } from "../analyze.js";
import { showAnnotation, showLabel } from "../labels.js";
import { COLOURS } from "./colours.js";

/** For Graphviz. */
export function toDot({ topology, streams }: Analysis): string {
  const components = topology.graph.components.map(({ name, paths }) => {
    const lines = paths.map(
      ({ from, to, annotation, gate }) => `${from} → ${to}  ${showAnnotation(annotation, gate)}`,
    );
    return `  ${quoted(name)} [shape=box, style=rounded, label=${quoted([name, ...lines].join("\n"))}];`;
  });
  const edges = [...streams.values()].flatMap(({ stream, label, seals, rep, accepted }) => {
    const { name, from, to } = stream;
    const outside = `outside ${name}`;
    const ends = from === null || to === null ? [`  ${quoted(outside)} [shape=point];`] : [];
    const text = `${name}: ${showLabel(label, seals)}${rep ? ", Rep" : ""}${accepted === null ? "" : ", accepted"}`;
    const colour = COLOURS[label].light;
    const style = accepted === null ? "" : ", style=dashed";
    return [
      ...ends,
      `  ${quoted(from?.component ?? outside)} -> ${quoted(to?.component ?? outside)} ` +
        `[label=${quoted(text)}, color="${colour}", fontcolor="${colour}"${style}];`,
    ];
  });
  return [
    "digraph dataflow {",
    "  rankdir=LR;",
    '  node [fontname="sans-serif"];',
    ...components,
    ...edges,
    "}",
  ].join("\n");
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
