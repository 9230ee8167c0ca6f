import { useEffect, useState } from "preact/hooks";
import { Action } from "../action.js";
import { get, remove } from "../api.js";
import { bytes, count, ms } from "../format.js";
import { Fact } from "../hosts.js";
import { hrefOf } from "../place.js";
import type { LiveStream } from "./graph.js";
import { LabelMark } from "./label.js";
import { LiveResults } from "./live-results.js";

/** One stream or query: what it is, how it goes, what EXPLAIN says of it, and its rows as they come. */
export function OneStream({
  path,
  stream,
  canDefine,
  removed,
}: {
  path: string;
  stream: LiveStream;
  canDefine: boolean;
  removed: () => void;
}) {
  const { name, kind, sql, columns, inputs, readers, producers, watermark } = stream;
  return (
    <aside class="card one" aria-label="One stream">
      <a class="back" href={hrefOf("streams")}>
        All streams
      </a>
      <h2>
        {name} <small>{kind}</small> <LabelMark stream={stream} />
      </h2>
      <dl class="facts">
        <Fact name="rows per second" value={count(stream.perSecond)} />
        <Fact name="rows so far" value={count(stream.next - 1)} />
        <Fact name="retained from" value={`number ${stream.first}`} />
        <Fact name="watermark" value={watermark === null ? "none" : timeOf(watermark)} />
        <Fact name="late rows" value={count(stream.late)} />
        <Fact name="errors" value={count(stream.errors)} />
        <Fact name="memory" value={bytes(stream.memoryBytes)} />
        {stream.partitions > 1 && <Fact name="partitions" value={String(stream.partitions)} />}
      </dl>
      <p class="columns">
        {columns.map((each) => (
          <span key={each.name}>
            <b>{each.name}</b> {each.type}
            {each.nullable && "?"}
          </span>
        ))}
      </p>
      {inputs.length > 0 && <p>reads {linksTo(inputs)}</p>}
      {readers.length > 0 && <p>read by {linksTo(readers)}</p>}
      {producers.some((each) => each.name !== "") && (
        <p>
          pushed by{" "}
          {producers.map((each) => `${each.name || "?"} (batch ${each.sequence ?? "none"})`).join(", ")}
        </p>
      )}
      {sql !== null && (
        <>
          <pre class="sql">{sql}</pre>
          <Explained path={path} name={name} />
        </>
      )}
      {canDefine && !name.includes(".") && (
        <p>
          <Action
            run={() => remove(`${path}/streams/${encodeURIComponent(name)}`).then(removed)}
            confirm={`Deregister ${name}?`}
            danger
          >
            Deregister
          </Action>
        </p>
      )}
      <LiveResults path={path} name={name} columns={columns.map((each) => each.name)} />
    </aside>
  );
}

function linksTo(names: readonly string[]) {
  return names.map((name, i) => (
    <span key={name}>
      {i > 0 && ", "}
      <a href={hrefOf("streams", name)}>{name}</a>
    </span>
  ));
}

/** Event time near to now as how long ago it was, else as a date. */
function timeOf(atMs: number): string {
  const agoMs = Date.now() - atMs;
  return Math.abs(agoMs) < NEAR_MS ? `${ms(agoMs)} ago` : new Date(atMs).toISOString();
}

const NEAR_MS = 24 * 3600 * 1000;

function Explained({ path, name }: { path: string; name: string }) {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    get<{ explain: string }>(`${path}/streams/${encodeURIComponent(name)}/explain`)
      .then(({ explain }) => setText(explain))
      .catch((error: Error) => setText(error.message));
  }, [path, name]);
  return (
    <details>
      <summary>EXPLAIN</summary>
      <pre class="explain">{text ?? "…"}</pre>
    </details>
  );
}
