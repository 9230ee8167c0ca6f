import type { GraphStream } from "../api.js";

/** The label of a query in the colour of its severity; the label itself is always written, too. */
export function LabelMark({ stream: { label } }: { stream: GraphStream }) {
  if (label === null) return <span class="label">source</span>;
  return (
    <span class={`label label-${label.severity}`} title={`coordination: ${label.coordination}`}>
      {label.text}
    </span>
  );
}
