import { useEffect, useState } from "preact/hooks";
import { type EventFact, get, type TrailFact } from "./api.js";
import { Difference } from "./difference.js";
import { ms } from "./format.js";
import { HostMark } from "./host-mark.js";
import { hrefOfContext } from "./place.js";

/** Where an event was, in the order in which it entered, and what it changed there. */
export function ContextsOfEvent({
  event,
  trail,
  changed,
}: {
  event: EventFact;
  trail: TrailFact | null;
  changed: readonly string[] | null;
}) {
  const entered = trail?.contexts ?? [];
  const others = (changed ?? []).filter((address) => !entered.some(({ context }) => context === address));
  const all = [...entered, ...others.map((context) => ({ context, host: null, afterMs: null }))];
  if (all.length === 0) return <p class="faint">{event.context}, as far as is known.</p>;
  return (
    <>
      <ol class="touched">
        {all.map(({ context, host, afterMs }) => (
          <li key={context}>
            <HostMark host={host} />{" "}
            <a class="address" href={hrefOfContext(context)}>
              {context}
            </a>{" "}
            {afterMs !== null && <span class="rate">after {ms(afterMs)}</span>}
            {changed?.includes(context) && <Changed event={event} address={context} />}
          </li>
        ))}
      </ol>
      {changed === null && (
        <p class="faint">
          What it changed is not known:{" "}
          {event.ok ? "nothing, or the program keeps no history of it." : "it failed, and changed nothing."}
        </p>
      )}
    </>
  );
}

/** The state before and after the event, asked for when it is opened. */
function Changed({ event, address }: { event: EventFact; address: string }) {
  const [isOpen, setOpen] = useState(false);
  const [states, setStates] = useState<readonly [unknown, unknown] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (!isOpen || states !== null) return;
    const at = (ticket: number) => get<{ state: unknown }>("past", { address, ticket: String(ticket) });
    Promise.all([at(event.ticket - 1), at(event.ticket)])
      .then(([before, after]) => setStates([before.state, after.state]))
      .catch((error: Error) => setProblem(error.message));
  }, [isOpen]);
  return (
    <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
      <summary>
        changed<span class="unseen"> {address}</span>
      </summary>
      {problem !== null && <p class="problem">{problem}</p>}
      {states !== null && <Difference before={states[0]} after={states[1]} />}
    </details>
  );
}
