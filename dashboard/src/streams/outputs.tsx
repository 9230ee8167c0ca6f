import { useEffect, useState } from "preact/hooks";
import { Action } from "../action.js";
import { get, type OutputStatus, post, remove } from "../api.js";
import { clock, count } from "../format.js";
import type { LiveStream } from "./graph.js";

interface DeadLetter {
  readonly first: number;
  readonly next: number;
  readonly error: string;
  readonly atMs: number;
}

const EVERY_MS = 2000;

/** Where rows go by themselves, how far each has come, and the batches that targets have refused. */
export function Outputs({
  path,
  streams,
  canDefine,
}: {
  path: string;
  streams: readonly LiveStream[];
  canDefine: boolean;
}) {
  const [outputs, setOutputs] = useState<readonly OutputStatus[]>([]);
  const look = () =>
    get<{ outputs: readonly OutputStatus[] }>(`${path}/outputs`)
      .then((answer) => setOutputs(answer.outputs))
      .catch(() => {});
  useEffect(() => {
    void look();
    const again = setInterval(look, EVERY_MS);
    return () => clearInterval(again);
  }, [path]);
  return (
    <section class="card" aria-label="Outputs">
      <h2>Outputs</h2>
      {outputs.length === 0 && <p class="faint">None: rows leave only when they are asked for.</p>}
      <ul class="outputs">
        {outputs.map((each) => (
          <li key={each.name} aria-label={`Output ${each.name}`}>
            <p>
              <strong>{each.name}</strong>: {each.stream} → {each.target}, next row {each.position},{" "}
              {count(each.lag)} waiting
              {each.attempts > 0 && `, ${each.attempts} attempts failed`}
              {each.skipped > 0 && `, ${count(each.skipped)} skipped`}{" "}
              {canDefine && (
                <Action
                  run={() => remove(`${path}/outputs/${encodeURIComponent(each.name)}`).then(look)}
                  confirm={`Deregister the output ${each.name}?`}
                  danger
                >
                  Deregister
                </Action>
              )}
            </p>
            {each.lastError !== null && <p class="problem">{each.lastError.message}</p>}
            {each.deadLetters > 0 && <DeadLetters path={path} output={each} canDefine={canDefine} />}
          </li>
        ))}
      </ul>
      {canDefine && <NewOutput path={path} streams={streams} registered={look} />}
    </section>
  );
}

function DeadLetters({
  path,
  output: { name, deadLetters },
  canDefine,
}: {
  path: string;
  output: OutputStatus;
  canDefine: boolean;
}) {
  const [letters, setLetters] = useState<readonly DeadLetter[]>([]);
  const own = `${path}/outputs/${encodeURIComponent(name)}/dead-letters`;
  const look = () =>
    get<{ deadLetters: readonly DeadLetter[] }>(own)
      .then((answer) => setLetters(answer.deadLetters))
      .catch(() => {});
  useEffect(() => void look(), [own, deadLetters]);
  return (
    <table aria-label={`Dead letters of ${name}`}>
      <thead>
        <tr>
          <th scope="col">dead letter</th>
          <th scope="col">since</th>
          <th scope="col">why</th>
          <th scope="col">
            <span class="unseen">what can be done</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {letters.map(({ first, next, error, atMs }) => (
          <tr key={first}>
            <td>
              rows {first} to {next - 1}
            </td>
            <td>{clock(atMs)}</td>
            <td>{error}</td>
            <td>
              {canDefine && (
                <>
                  <Action run={() => post(`${own}/${first}/replay`).then(look)}>Replay</Action>{" "}
                  <Action
                    run={() => remove(`${own}/${first}`).then(look)}
                    confirm="Drop these rows for good?"
                    danger
                  >
                    Drop
                  </Action>
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function NewOutput({
  path,
  streams,
  registered,
}: {
  path: string;
  streams: readonly LiveStream[];
  registered: () => void;
}) {
  const [stream, setStream] = useState("");
  const [target, setTarget] = useState("");
  return (
    <p class="filter">
      <label>
        Deliver{" "}
        <select value={stream} onChange={(event) => setStream(event.currentTarget.value)}>
          <option value="">…</option>
          {streams.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        to{" "}
        <input
          value={target}
          placeholder="https://example.org/hook"
          onInput={(event) => setTarget(event.currentTarget.value)}
        />
      </label>
      <Action
        run={() => post(`${path}/outputs`, { stream, target }).then(registered)}
        disabled={stream === "" || target.trim() === ""}
      >
        Register the output
      </Action>
    </p>
  );
}
