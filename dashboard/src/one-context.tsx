import { useEffect, useState } from "preact/hooks";
import { Action } from "./action.js";
import { get, type Outline, type Overview, post } from "./api.js";
import { count } from "./format.js";
import { HostMark } from "./host-mark.js";
import { hrefOf } from "./place.js";
import { TimeTravel } from "./time-travel.js";

/** One context: its state, and where it lives. */
export function OneContext({ address, overview }: { address: string; overview: Overview }) {
  const [outline, setOutline] = useState<Outline | null>(null);
  const [state, setState] = useState<unknown>(undefined);
  const [problem, setProblem] = useState<string | null>(null);
  const look = async () => {
    try {
      setProblem(null);
      setOutline(await get<Outline>("context", { address }));
      setState((await get<{ state: unknown }>("state", { address })).state);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  useEffect(() => void look(), [address]);
  const others =
    overview.hosts?.filter(({ id, state: is }) => id !== outline?.host && is === "running") ?? [];
  return (
    <aside class="card one" aria-label="One context">
      <a class="back" href={hrefOf("contexts")}>
        All contexts
      </a>
      <h2 class="address">{address}</h2>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {outline !== null && (
        <>
          <p>
            {outline.className} <HostMark host={outline.host} />{" "}
            {outline.busy !== null && <span class="rate">{count(outline.busy.perSecond)} events/s</span>}
          </p>
          <p class="actions">
            <Action run={look}>Read again</Action>
            {others.map(({ id }) => (
              <Action key={id} run={() => post("migrate", { context: address, host: id }).then(look)}>
                Migrate to host {id}
              </Action>
            ))}
          </p>
          <h3>State</h3>
          {state !== undefined && <TimeTravel address={address} now={state} />}
        </>
      )}
    </aside>
  );
}
