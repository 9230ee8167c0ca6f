import { useRef, useState } from "preact/hooks";
import { type GraphAnswer, type GraphStream, get, Refused } from "../api.js";
import { useEvery } from "../every.js";

/** A stream or query with how many rows it gets per second. */
export type LiveStream = GraphStream & { readonly perSecond: number };

const EVERY_MS = 1000;

/** The graph of a tenant, up to date. As long as it keeps its shape, only figures are asked for. */
export function useGraph(path: string) {
  const [streams, setStreams] = useState<readonly LiveStream[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState(0);
  const known = useRef<{
    readonly shape: string;
    readonly atMs: number;
    readonly streams: readonly GraphStream[];
  }>({
    ...{ shape: "", atMs: 0, streams: [] },
  });
  useEvery(
    EVERY_MS,
    async (signal) => {
      try {
        const answer = await get<GraphAnswer>(`${path}/graph`, { known: known.current.shape }, signal);
        const nowMs = performance.now();
        const { atMs, streams: before } = known.current;
        const now = answer.streams ?? changed(before, answer);
        const nextOf = new Map(before.map(({ name, next }) => [name, next]));
        known.current = { shape: answer.shape, atMs: nowMs, streams: now };
        setProblem(null);
        setStreams(
          now.map((each) => {
            const rows = each.next - (nextOf.get(each.name) ?? each.next);
            return { ...each, perSecond: (1000 * rows) / Math.max(1, nowMs - atMs) };
          }),
        );
      } catch (error) {
        if (error instanceof Refused) setProblem(error.message);
      }
    },
    [path, asked],
  );
  return { streams, problem, again: () => setAsked(asked + 1) };
}

function changed(streams: readonly GraphStream[], { changing = [] }: GraphAnswer): readonly GraphStream[] {
  return streams.map((stream, i) => {
    const { figures, seals = null, producers = [] } = changing[i] ?? {};
    if (figures === undefined) return stream;
    const [first, next, watermark, memoryBytes, late, errors] = figures;
    return { ...stream, first, next, watermark, memoryBytes, late, errors, seals, producers };
  });
}
