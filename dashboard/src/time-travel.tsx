import { useEffect, useState } from "preact/hooks";
import { get } from "./api.js";
import { StateTree } from "./state-tree.js";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The state of a context now, or as of a ticket of the past that a slider chooses, where the program keeps a history. */
export function TimeTravel({ address, now }: { address: string; now: unknown }) {
  const [span, setSpan] = useState<Span | null>(null);
  const [ticket, setTicket] = useState<number | null>(null);
  const [past, setPast] = useState<unknown>(undefined);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setTicket(null);
    get<{ history: Span | null }>("history", { address })
      .then(({ history }) => setSpan(history))
      .catch(() => setSpan(null));
  }, [address, now]);
  useEffect(() => {
    if (ticket === null) return;
    const closed = new AbortController();
    get<{ state: unknown }>("past", { address, ticket: String(ticket) }, closed.signal)
      .then((answer) => {
        setPast(answer.state);
        setProblem(null);
      })
      .catch((error: Error) => {
        if (!closed.signal.aborted) setProblem(error.message);
      });
    return () => closed.abort();
  }, [address, ticket]);
  return (
    <>
      {span !== null && span.to > span.from && (
        <p>
          <label>
            as of ticket{" "}
            <input
              type="range"
              min={span.from}
              max={span.to}
              value={ticket ?? span.to}
              onInput={(event) => setTicket(Number(event.currentTarget.value))}
            />
          </label>{" "}
          <output>{ticket ?? "now"}</output>{" "}
          {ticket !== null && (
            <button type="button" onClick={() => setTicket(null)}>
              Now
            </button>
          )}
        </p>
      )}
      {problem !== null && ticket !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {ticket === null ? (
        <StateTree value={now} />
      ) : past === null ? (
        <p>It did not exist.</p>
      ) : (
        <StateTree value={past} />
      )}
    </>
  );
}
