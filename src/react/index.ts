/**
 * The door `headwater/react`: hooks for React 18 and 19. They need no provider: a function of a client's API knows its client.
 * `react` is an optional peer dependency, and nothing else of Headwater loads it.
 */

import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { type ConnectionState, type ServiceClient, type WatchState, watchable } from "../client/index.js";

export type { ConnectionState, WatchState } from "../client/index.js";

/**
 * The result of a read-only function of the API, kept up to date: `const board = useWatch(client.api.board, id)`. Components that watch
 * the same function with equal arguments share one subscription.
 */
export function useWatch<P extends unknown[], R>(
  call: (...args: P) => Promise<R>,
  ...args: P
): WatchState<R> {
  const latest = watchable(call, args);
  const { key } = latest;
  // Arguments are equal if their values are: a new list of the same values changes nothing.
  const kept = useRef(latest);
  if (kept.current.key !== key || kept.current.call !== call) kept.current = latest;
  const found = kept.current;
  const subscribe = useCallback(
    (changed: () => void) => {
      const watch = found.open();
      watch.onChange(changed);
      return () => watch.stop();
    },
    [found],
  );
  const state = useCallback(() => found.state, [found]);
  return useSyncExternalStore(subscribe, state, state);
}

/** Whether the client has a connection at the moment. */
export function useConnection(client: Pick<ServiceClient<unknown>, "state" | "onState">): ConnectionState {
  const subscribe = useCallback((changed: () => void) => client.onState(changed), [client]);
  const state = useCallback(() => client.state, [client]);
  return useSyncExternalStore(subscribe, state, state);
}

/** Hears each message to this session, once and in order, while the component is there. */
export function useMessages<M = unknown>(
  client: Pick<ServiceClient<unknown>, "onMessage">,
  listener: (message: M) => void,
): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => client.onMessage<M>((message) => latest.current(message)), [client]);
}
