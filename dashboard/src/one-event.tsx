import { useEffect, useState } from "preact/hooks";
import { type EventFact, type EventStory, get, Refused, type TrailFact } from "./api.js";
import { ContextsOfEvent } from "./event-contexts.js";
import { clock, ms } from "./format.js";
import { HostMark } from "./host-mark.js";
import { hrefOf, hrefOfContext, hrefOfEvent } from "./place.js";

/** What `GET event` answers. */
export type Story = EventStory & { readonly changed: readonly string[] | null };

/** Facts of an event come with it, and events that it started later. */
const AGAIN_MS = 2000;
const AGAIN_MAX = 5;

/** The way of one event through the program. */
export function OneEvent({ node, ticket }: { node: string; ticket: number }) {
  const [story, setStory] = useState<Story | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const closed = new AbortController();
    let looks = 0;
    let again: ReturnType<typeof setTimeout> | undefined;
    const look = (): void =>
      void get<Story>("event", { node, ticket: String(ticket) }, closed.signal)
        .then((found) => {
          setStory(found);
          looks += 1;
          if (looks < AGAIN_MAX) again = setTimeout(look, AGAIN_MS);
        })
        .catch((error: Error) => {
          if (error instanceof Refused && looks === 0) setProblem(error.message);
        });
    look();
    return () => {
      closed.abort();
      clearTimeout(again);
    };
  }, [node, ticket]);
  return (
    <aside class="card one" aria-label="One event">
      <a class="back" href={hrefOf("events")}>
        All events
      </a>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {story !== null && <StoryOf story={story} />}
    </aside>
  );
}

function StoryOf({ story }: { story: Story }) {
  const { event, trail, started, changed } = story;
  return (
    <>
      <h2 class="address">
        {event.context}.{event.method}
      </h2>
      <p>
        <span class={`badge ${event.ok ? "good" : "bad"}`}>
          {event.ok ? "committed" : `failed: ${event.error}`}
        </span>{" "}
        ticket {event.ticket} of {event.node} <HostMark host={event.host} /> at {clock(event.atMs)}
      </p>
      <p class="faint">
        Started by {event.startedBy}
        {event.caller === null ? "" : ` of ${event.caller}`}
        {event.parent !== null && (
          <>
            {" "}
            of event <EventLink node={event.parentNode ?? event.node} ticket={event.parent} />
          </>
        )}
        {event.attempts > 1 && `; ${event.attempts} attempts`}
      </p>
      <Times event={event} />
      {trail?.thrown && (
        <>
          <h3>Failure</h3>
          <pre class="stack">{trail.thrown.stack === "" ? trail.thrown.message : trail.thrown.stack}</pre>
        </>
      )}
      <h3>Waited for</h3>
      <Waits event={event} trail={trail} />
      <h3>Contexts</h3>
      <ContextsOfEvent event={event} trail={trail} changed={changed} />
      <h3>Asked for</h3>
      <Effects trail={trail} />
      <h3>Started events</h3>
      {started.length === 0 && <p class="faint">None that is remembered.</p>}
      <ul>
        {started.map((each) => (
          <li key={`${each.node}/${each.ticket}`}>
            <EventLink node={each.node} ticket={each.ticket} />{" "}
            <span class="address">
              {each.context}.{each.method}
            </span>{" "}
            {!each.ok && <em class="bad">{each.error}</em>}
          </li>
        ))}
      </ul>
      {trail !== null && trail.leftOut > 0 && <p class="faint">{trail.leftOut} more are left out.</p>}
    </>
  );
}

function EventLink({ node, ticket }: { node: string; ticket: number }) {
  return (
    <a href={hrefOfEvent(node, ticket)}>
      <span class="unseen">event </span>
      {ticket}
    </a>
  );
}

function Times({ event }: { event: EventFact }) {
  const parts = [
    { name: "waited", value: event.waitedMs, colour: "var(--orange)" },
    { name: "ran", value: event.ranMs, colour: "var(--blue)" },
    { name: "journal", value: event.journaledMs, colour: "var(--purple)" },
  ];
  return (
    <div class="times">
      <div class="bar" aria-hidden="true">
        {parts.map(({ name, value, colour }) => (
          <i key={name} style={{ flexGrow: Math.max(value, 0.001), background: colour }} />
        ))}
      </div>
      <ul class="legend">
        {parts.map(({ name, value, colour }) => (
          <li key={name}>
            <i class="dot" style={{ background: colour }} aria-hidden="true" /> {name} {ms(value)}
          </li>
        ))}
        <li>total {ms(event.totalMs)}</li>
      </ul>
    </div>
  );
}

function Waits({ event, trail }: { event: EventFact; trail: TrailFact | null }) {
  const waits = trail?.waits ?? [];
  if (waits.length === 0) return <p class="faint">No other event.</p>;
  return (
    <ul>
      {waits.map((wait, i) => (
        <li key={`${wait.context} ${wait.for} ${i}`}>
          <b>{ms(wait.ms)}</b> for event <EventLink node={event.node} ticket={wait.for} /> of{" "}
          <span class="address">{wait.forContext}</span>, to enter{" "}
          <a class="address" href={hrefOfContext(wait.context)}>
            {wait.context}
          </a>
        </li>
      ))}
    </ul>
  );
}

const ASKED = {
  start: "event",
  send: "message to",
  tell: "message to client",
  timer: "timer",
  cancel: "cancelled timer",
  outside: "outside call",
} as const;

function Effects({ trail }: { trail: TrailFact | null }) {
  const effects = trail?.effects ?? [];
  if (trail === null) return <p class="faint">Not known: it ran before a page looked.</p>;
  if (effects.length === 0) return <p class="faint">Nothing.</p>;
  return (
    <ul>
      {effects.map(({ what, to, method, inMs }, i) => (
        <li key={`${what} ${to} ${i}`}>
          {ASKED[what]}{" "}
          <span class="address">
            {to}
            {method !== null && (what === "outside" ? `, then ${method}` : `.${method}`)}
          </span>
          {inMs !== null && (inMs > 0 ? ` in ${ms(inMs)}` : ", already due")}
        </li>
      ))}
    </ul>
  );
}
