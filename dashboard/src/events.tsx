import { useEffect, useState } from "preact/hooks";
import { type EventFact, type EventStory, get } from "./api.js";
import { clock, ms } from "./format.js";
import { HostMark } from "./hosts.js";

const EVERY_MS = 1000;

/** What `GET event` answers. */
type Story = EventStory & { readonly changed: readonly string[] | null };

/** The last events, and the way of one through the system. */
export function Events() {
  const [text, setText] = useState("");
  const [failedOnly, setFailedOnly] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [events, setEvents] = useState<readonly EventFact[]>([]);
  const [story, setStory] = useState<Story | null>(null);
  useEffect(() => {
    const look = () =>
      get<{ events: readonly EventFact[] }>("events", { text, failed: String(failedOnly) })
        .then((answer) => setEvents(answer.events))
        .catch(() => {});
    void look();
    if (isPaused) return;
    const again = setInterval(look, EVERY_MS);
    return () => clearInterval(again);
  }, [text, failedOnly, isPaused]);
  const open = (node: string, ticket: number) => {
    setPaused(true);
    get<Story>("event", { node, ticket: String(ticket) })
      .then(setStory)
      .catch(() => setStory(null));
  };
  return (
    <div class="split">
      <section aria-label="Recent events">
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          <label>
            Context or method{" "}
            <input type="search" value={text} onInput={(e) => setText(e.currentTarget.value)} />
          </label>
          <label>
            <input
              type="checkbox"
              checked={failedOnly}
              onChange={(e) => setFailedOnly(e.currentTarget.checked)}
            />{" "}
            failed only
          </label>
          <label>
            <input type="checkbox" checked={isPaused} onChange={(e) => setPaused(e.currentTarget.checked)} />{" "}
            paused
          </label>
        </form>
        <table class="events">
          <thead>
            <tr>
              <th scope="col">time</th>
              <th scope="col">ticket</th>
              <th scope="col">event</th>
              <th scope="col">host</th>
              <th scope="col">waited</th>
              <th scope="col">ran</th>
              <th scope="col">total</th>
            </tr>
          </thead>
          <tbody>
            {events.map((each) => (
              <tr key={`${each.node}/${each.ticket}`} class={each.ok ? "" : "failed"}>
                <td>{clock(each.atMs)}</td>
                <td>{each.ticket}</td>
                <td>
                  <button type="button" class="link" onClick={() => open(each.node, each.ticket)}>
                    {each.context}.{each.method}
                  </button>
                  {each.error !== null && <em> {each.error}</em>}
                </td>
                <td>
                  <HostMark host={each.host} />
                </td>
                <td>{ms(each.waitedMs)}</td>
                <td>{ms(each.ranMs)}</td>
                <td>{ms(each.totalMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {story !== null && <StoryOf story={story} open={open} />}
    </div>
  );
}

function StoryOf({
  story: { event, waits, started, changed },
  open,
}: {
  story: Story;
  open: (node: string, ticket: number) => void;
}) {
  const parts = [
    { name: "waited for earlier events", value: event.waitedMs, colour: "var(--orange)" },
    { name: "ran", value: event.ranMs, colour: "var(--blue)" },
    { name: "waited for the journal", value: event.journaledMs, colour: "var(--purple)" },
  ];
  return (
    <aside aria-label="One event">
      <h2>
        {event.context}.{event.method}
      </h2>
      <p>
        Ticket {event.ticket} of {event.node}, started by {event.startedBy}
        {event.caller === null ? "" : ` of ${event.caller}`}
        {event.parent !== null && (
          <>
            {" "}
            of event{" "}
            <button type="button" class="link" onClick={() => open(event.node, event.parent ?? 0)}>
              {event.parent}
            </button>
          </>
        )}
        . {event.attempts > 1 ? `${event.attempts} attempts. ` : ""}
        {event.ok ? "It committed." : `It failed: ${event.error}.`}
      </p>
      <div
        class="bar"
        role="img"
        aria-label={parts.map(({ name, value }) => `${name} ${ms(value)}`).join(", ")}
      >
        {parts.map(({ name, value, colour }) => (
          <i
            key={name}
            style={{ flexGrow: Math.max(value, 0.001), background: colour }}
            title={`${name}: ${ms(value)}`}
          />
        ))}
      </div>
      <ul>
        {parts.map(({ name, value, colour }) => (
          <li key={name}>
            <i class="dot" style={{ background: colour }} aria-hidden="true" /> {name} {ms(value)}
          </li>
        ))}
      </ul>
      <h3>Waited for</h3>
      {waits.length === 0 && <p>No other event.</p>}
      <ul>
        {waits.map((wait) => (
          <li key={`${wait.context} ${wait.for}`}>
            to enter {wait.context}: event{" "}
            <button type="button" class="link" onClick={() => open(event.node, wait.for)}>
              {wait.for}
            </button>{" "}
            of {wait.forContext}
          </li>
        ))}
      </ul>
      <h3>Changed</h3>
      {changed === null && <p>Not known: it is not in the program's history.</p>}
      <ul>
        {changed?.map((address) => (
          <li key={address}>{address}</li>
        ))}
      </ul>
      <h3>Started</h3>
      {started.length === 0 && <p>No event that is remembered.</p>}
      <ul>
        {started.map((each) => (
          <li key={each.ticket}>
            <button type="button" class="link" onClick={() => open(each.node, each.ticket)}>
              {each.ticket}
            </button>{" "}
            {each.context}.{each.method}
          </li>
        ))}
      </ul>
    </aside>
  );
}
