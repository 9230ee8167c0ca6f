import { useState } from "preact/hooks";
import { type EventRow, useEvents } from "./event-list.js";
import { clock, count, ms } from "./format.js";
import { HostMark } from "./host-mark.js";
import { OneEvent } from "./one-event.js";
import { hrefOfEvent, usePlace } from "./place.js";
import { Rows } from "./rows.js";

const COLUMNS = ["time", "ticket", "event", "host", "waited", "ran", "total"] as const;

/** The last events, and the way of one through the program. */
export function Events() {
  const [, node, ticket] = usePlace();
  const [text, setText] = useState("");
  const [failedOnly, setFailedOnly] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [isAtTop, setAtTop] = useState(true);
  const isOpen = node !== undefined && ticket !== undefined;
  const { events, waiting, showWaiting } = useEvents({ text, failedOnly }, isPaused || isOpen || !isAtTop);
  return (
    <div class={`split ${isOpen ? "with-one" : ""}`}>
      <section class="list" aria-label="Recent events">
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
          <button type="button" disabled={waiting === 0} onClick={showWaiting}>
            {count(waiting)} new
          </button>
        </form>
        <div class="card grid events" role="table" aria-label="Events" aria-rowcount={events.length + 1}>
          <div class="head" role="row" aria-rowindex={1}>
            {COLUMNS.map((each) => (
              <span key={each} role="columnheader" class={each}>
                {each}
              </span>
            ))}
          </div>
          <Rows
            label="Events, the newest first"
            role="rowgroup"
            rows={events}
            scrolled={(topPx) => setAtTop(topPx < 4)}
            row={(each, i) => ({
              role: "row",
              "aria-rowindex": i + 2,
              class: `${each.ok ? "" : "failed"} ${each.node === node && String(each.ticket) === ticket ? "active" : ""}`,
            })}
            show={(each) => <Cells event={each} />}
          />
        </div>
        {events.length === 0 && (
          <p class="faint">No events yet. They are heard from the moment when a page looks.</p>
        )}
      </section>
      {isOpen && <OneEvent key={`${node}/${ticket}`} node={node} ticket={Number(ticket)} />}
    </div>
  );
}

function Cells({
  event: { atMs, node, ticket, context, method, error, host, ...event },
}: {
  event: EventRow;
}) {
  return (
    <>
      <span role="cell" class="time">
        {clock(atMs)}
      </span>
      <span role="cell" class="ticket">
        {ticket}
      </span>
      <span role="cell" class="event">
        <a class="address" href={hrefOfEvent(node, ticket)} title={`${context}.${method}`}>
          {context}.<b>{method}</b>
        </a>
        {error !== null && <em class="bad"> {error}</em>}
      </span>
      <span role="cell" class="host">
        <HostMark host={host} />
      </span>
      <span role="cell" class="waited">
        {ms(event.waitedMs)}
      </span>
      <span role="cell" class="ran">
        {ms(event.ranMs)}
      </span>
      <span role="cell" class="total">
        {ms(event.totalMs)}
      </span>
    </>
  );
}
