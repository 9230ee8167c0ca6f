import { useEffect, useState } from "preact/hooks";
import { get } from "./api.js";
import { Difference } from "./difference.js";
import { StateTree } from "./state-tree.js";

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * The state of a context now, or as of a ticket of the past that a slider chooses, where the program keeps a history; and what differs
 * between two tickets.
 */
export function TimeTravel({ address, now }: { address: string; now: unknown }) {
  const [span, setSpan] = useState<Span | null>(null);
  const [ticket, setTicket] = useState<number | null>(null);
  const [base, setBase] = useState<number | null>(null);
  useEffect(() => {
    setTicket(null);
    setBase(null);
    get<{ history: Span | null }>("history", { address })
      .then(({ history }) => setSpan(history))
      .catch(() => setSpan(null));
  }, [address, now]);
  const shown = usePast(address, ticket, now);
  const compared = usePast(address, base, now);
  const problem = shown.problem ?? compared.problem;
  return (
    <>
      {span !== null && span.to > span.from && (
        <div class="travel">
          <TicketSlider label="as of ticket" span={span} ticket={ticket} choose={setTicket} />
          {base === null ? (
            <button type="button" onClick={() => setBase(span.from)}>
              Compare
            </button>
          ) : (
            <>
              <TicketSlider label="compared with ticket" span={span} ticket={base} choose={setBase} />
              <button type="button" onClick={() => setBase(null)}>
                Compare no more
              </button>
            </>
          )}
        </div>
      )}
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {base !== null && compared.state !== undefined && shown.state !== undefined ? (
        <Difference before={compared.state} after={shown.state} />
      ) : shown.state === null ? (
        <p class="faint">It did not exist.</p>
      ) : (
        <StateTree value={shown.state} />
      )}
    </>
  );
}

/** A slider, buttons for one ticket back and forth, and the way back to now. */
function TicketSlider({
  label,
  span: { from, to },
  ticket,
  choose,
}: {
  label: string;
  span: Span;
  ticket: number | null;
  choose: (ticket: number | null) => void;
}) {
  const at = ticket ?? to;
  const step = (by: number) => choose(Math.max(from, Math.min(to, at + by)));
  return (
    <div class="slider" role="group" aria-label={label}>
      <label>
        <span>{label}</span>
        <input
          type="range"
          min={from}
          max={to}
          value={at}
          aria-valuetext={ticket === null ? "now" : `ticket ${ticket}`}
          onInput={(event) => choose(Number(event.currentTarget.value))}
        />
      </label>
      <span class="actions">
        <button type="button" aria-label="One ticket back" disabled={at <= from} onClick={() => step(-1)}>
          ‹
        </button>
        <output>{ticket ?? "now"}</output>
        <button type="button" aria-label="One ticket forth" disabled={at >= to} onClick={() => step(1)}>
          ›
        </button>
        <button type="button" disabled={ticket === null} onClick={() => choose(null)}>
          Now
        </button>
      </span>
    </div>
  );
}

/** The state as of a ticket, or now: `null` if the context did not exist, `undefined` until it is known. */
function usePast(address: string, ticket: number | null, now: unknown) {
  const [past, setPast] = useState<unknown>(undefined);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setProblem(null);
    if (ticket === null) return setPast(undefined);
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
  return { state: ticket === null ? now : past, problem };
}
