import { useEffect } from "preact/hooks";

/**
 * Does something now and again and again, one after the other: a server that takes long is not asked for more meanwhile, and a page that is not in
 * sight asks for nothing.
 */
export function useEvery(
  everyMs: number,
  act: (signal: AbortSignal) => Promise<unknown>,
  of: readonly unknown[],
) {
  useEffect(() => {
    const closed = new AbortController();
    const { signal } = closed;
    let next: ReturnType<typeof setTimeout> | undefined;
    const acting = async (): Promise<void> => {
      if (!document.hidden) await act(signal).catch(() => {}); // it is tried again
      if (!signal.aborted) next = setTimeout(acting, everyMs);
    };
    void acting();
    return () => {
      closed.abort();
      clearTimeout(next);
    };
  }, of);
}
