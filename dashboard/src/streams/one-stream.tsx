import { useEffect, useState } from "preact/hooks";
import { Action } from "../action.js";
import { get, remove } from "../api.js";
import { bytes, count, ms } from "../format.js";
import { LabelMark } from "./label.js";
import { LiveResults } from "./live-results.js";
import type { LiveStream } from "./streams.js";

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
    <aside aria-label="One stream">
      <h2>
        {name} <small>{kind}</small> <LabelMark stream={stream} />
      </h2>
      <dl class="figures">
        <Figure name="rows per second" value={count(stream.perSecond)} />
        <Figure name="rows so far" value={count(stream.next - 1)} />
        <Figure name="retained from" value={`number ${stream.first}`} />
        <Figure name="watermark" value={watermark === null ? "none" : timeOf(watermark)} />
        <Figure name="late rows" value={count(stream.late)} />
        <Figure name="errors" value={count(stream.errors)} />
        <Figure name="memory" value={bytes(stream.memoryBytes)} />
        {stream.partitions > 1 && <Figure name="partitions" value={String(stream.partitions)} />}
      </dl>
      <p>{columns.map((each) => `${each.name} ${each.type}${each.nullable ? "?" : ""}`).join(", ")}</p>
      {inputs.length > 0 && <p>reads {inputs.join(", ")}</p>}
      {readers.length > 0 && <p>read by {readers.join(", ")}</p>}
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

/** Event time near to now as how long ago it was, else as a date. */
function timeOf(atMs: number): string {
  const agoMs = Date.now() - atMs;
  return Math.abs(agoMs) < NEAR_MS ? `${ms(agoMs)} ago` : new Date(atMs).toISOString();
}

const NEAR_MS = 24 * 3600 * 1000;

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

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
