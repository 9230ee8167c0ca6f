import { useEffect, useState } from "preact/hooks";
import { ask, followLines } from "../api.js";

interface NumberedRow {
  readonly number: number;
  readonly isRetracted: boolean;
  readonly row: Readonly<Record<string, unknown>>;
}

const ROWS_MAX = 50;
const SHOW_MS = 200;
/** The last rows that are there when the view opens. */
const BEGIN_WITH = 20;
const RETRY_MS = 1000;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The last rows of a stream or a query, and new ones as they come. Many rows at once are shown a few times a second. */
export function LiveResults({
  path,
  name,
  columns,
}: {
  path: string;
  name: string;
  columns: readonly string[];
}) {
  const [rows, setRows] = useState<readonly NumberedRow[]>([]);
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (isPaused) return;
    const closed = new AbortController();
    let last: NumberedRow[] = [];
    let isShown = true;
    const show = () => {
      if (!isShown) setRows(last);
      isShown = true;
    };
    const showing = setInterval(show, SHOW_MS);
    void following(path, name, closed.signal, (row) => {
      last = [row, ...last].slice(0, ROWS_MAX);
      isShown = false;
    });
    return () => {
      closed.abort();
      clearInterval(showing);
    };
  }, [path, name, isPaused]);
  return (
    <section aria-label={`Rows of ${name}`}>
      <div class="bar-of-actions">
        <h3>Rows</h3>
        <label>
          <input type="checkbox" checked={isPaused} onChange={(e) => setPaused(e.currentTarget.checked)} />{" "}
          paused
        </label>
      </div>
      <div class="wide" role="region" aria-label={`Table of ${name}`} tabIndex={0}>
        <table class="results">
          <thead>
            <tr>
              <th scope="col">#</th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ number, isRetracted, row }) => (
              <tr key={number} class={isRetracted ? "retracted" : ""}>
                <td>
                  {number}
                  {isRetracted && <span class="faint"> retracted</span>}
                </td>
                {columns.map((column) => (
                  <td key={column}>{cell(row[column])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="faint">No rows yet.</p>}
    </section>
  );
}

function cell(value: unknown): string {
  if (typeof value === "string" && TIME.test(value))
    return value.replace("T", " ").replace(/(?:\.0+)?Z$/, "");
  if (value === null || value === undefined) return "–";
  if (typeof value === "number" && !Number.isInteger(value)) return value.toPrecision(4);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Follows the rows as Server-Sent Events, and goes on behind the last row when the connection was lost. */
async function following(
  path: string,
  name: string,
  signal: AbortSignal,
  take: (row: NumberedRow) => void,
): Promise<void> {
  const stream = `${path}/streams/${encodeURIComponent(name)}`;
  let from: number | null = null;
  while (!signal.aborted) {
    try {
      if (from === null) {
        const described = await (await ask(stream, { signal })).json();
        const { first, next } = described as { first: number; next: number };
        from = Math.max(first, next - BEGIN_WITH);
      }
      const response = await ask(`${stream}/results?from=${from}`, {
        signal,
        headers: { accept: "text/event-stream" },
      });
      let [number, isRetracted] = [0, false];
      await followLines(response, (line) => {
        const [, field, value = ""] = /^(id|event|data): (.*)$/.exec(line) ?? [];
        if (field === "id") number = Number(value);
        else if (field === "event") isRetracted = value === "retract";
        else if (field === "data") {
          take({ number, isRetracted, row: JSON.parse(value) as Record<string, unknown> });
          from = number + 1;
        }
      });
    } catch {
      from = null; // rows that were asked for may not be retained any more: it begins with the last ones again
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
