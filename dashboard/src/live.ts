import { useEffect, useState } from "preact/hooks";
import { follow, get, type Notice, type Overview, Refused, type Second } from "./api.js";

/** What the page knows of the program, kept up to date while it is open. */
export interface Live {
  readonly overview: Overview | null;
  readonly seconds: readonly Second[];
  readonly notices: readonly Notice[];
  readonly connection: "connecting" | "live" | "lost" | "signed out";
}

const SECONDS_MAX = 300;
const NOTICES_MAX = 200;
const RETRY_MS = 500;

/** Follows the program's feed, and begins anew when the connection is lost: the program may be starting again. */
export function useLive(): Live {
  const [live, setLive] = useState<Live>({
    overview: null,
    seconds: [],
    notices: [],
    connection: "connecting",
  });
  useEffect(() => {
    const closed = new AbortController();
    const change = (some: (before: Live) => Partial<Live>) =>
      setLive((before) => ({ ...before, ...some(before) }));
    const take = (value: unknown) => {
      const fact = value as ({ kind: "second" } & Second & Pick<Overview, "hosts">) | Notice;
      if (fact.kind === "second") {
        const { hosts, ...second } = fact;
        change(({ seconds, overview }) => ({
          seconds: [...seconds, second].slice(-SECONDS_MAX),
          overview: overview === null ? null : { ...overview, hosts },
          connection: "live",
        }));
      } else change(({ notices }) => ({ notices: [...notices, fact].slice(-NOTICES_MAX) }));
    };
    const run = async () => {
      while (!closed.signal.aborted) {
        try {
          const overview = await get<Overview>("overview", {}, closed.signal);
          change(() => ({
            overview,
            seconds: overview.seconds,
            notices: overview.notices,
            connection: "live",
          }));
          await follow("feed", take, closed.signal);
        } catch (error) {
          if (error instanceof Refused && error.status === 401)
            return change(() => ({ connection: "signed out" }));
        }
        if (closed.signal.aborted) return;
        change(() => ({ connection: "lost" }));
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    };
    void run();
    return () => closed.abort();
  }, []);
  return live;
}
