import { useRef, useState } from "preact/hooks";
import { type EventPage, get, type NumberedEvent } from "./api.js";
import { useEvery } from "./every.js";

const EVERY_MS = 1000;
const KEPT_MAX = 2000;

export interface EventFilter {
  readonly text: string;
  readonly failedOnly: boolean;
}

/** A line of the list. */
export type EventRow = NumberedEvent & { readonly key: string };

/**
 * The last events, the newest first. Only events that have come since are asked for. While the list is held, because its user reads in it, new ones wait.
 */
export function useEvents({ text, failedOnly }: EventFilter, isHeld: boolean) {
  const [events, setEvents] = useState<readonly EventRow[]>([]);
  const [waiting, setWaiting] = useState<readonly EventRow[]>([]);
  const held = useRef(isHeld);
  held.current = isHeld;
  const last = useRef(0);
  const filter = useRef("");
  useEvery(
    EVERY_MS,
    async (signal) => {
      const now = `${failedOnly} ${text}`;
      const isNew = filter.current !== now;
      const after = isNew ? 0 : last.current;
      const query = { text, failed: String(failedOnly), after: String(after), limit: "200" };
      const page = await get<EventPage>("events", query, signal);
      // A program that was started again counts from the beginning.
      if (page.last < after) {
        last.current = 0;
        return;
      }
      filter.current = now;
      last.current = page.last;
      const news = page.events.map((each) => ({ ...each, key: String(each.number) }));
      if (isNew) {
        setEvents(news);
        setWaiting([]);
      } else if (news.length === 0) return;
      else if (held.current) setWaiting((before) => [...news, ...before].slice(0, KEPT_MAX));
      else setEvents((before) => [...news, ...before].slice(0, KEPT_MAX));
    },
    [text, failedOnly],
  );
  const showWaiting = () => {
    setEvents((before) => [...waiting, ...before].slice(0, KEPT_MAX));
    setWaiting([]);
  };
  return { events, waiting: waiting.length, showWaiting };
}
