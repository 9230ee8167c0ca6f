import { Action } from "./action.js";
import { post } from "./api.js";
import { bytes, count, ms } from "./format.js";
import type { Live } from "./live.js";
import { Notices } from "./notices.js";

/** A colour for each host, the same in all views. */
export function hostColour(host: number): string {
  return `hsl(${(host * 137.5) % 360} 60% 50%)`;
}

export function HostMark({ host }: { host: number | null }) {
  if (host === null) return null;
  return (
    <span class="host-mark" style={{ background: hostColour(host) }} title={`on host ${host}`}>
      {host}
    </span>
  );
}

export function Hosts({ live: { overview, notices } }: { live: Live }) {
  if (overview === null) return <p>Loading…</p>;
  const { hosts, canKill } = overview;
  if (hosts === null)
    return (
      <p>
        The program runs in one thread. Start it with <code>--hosts 2</code> (and <code>--journal DIR</code>,
        so that a lost host is replaced) to spread its contexts over hosts.
      </p>
    );
  return (
    <>
      <p>
        <Action run={() => post("hosts/add")}>Add a host</Action>
      </p>
      <ul class="hosts">
        {hosts.map(({ id, state, contexts, events, restarts, load }) => (
          <li key={id} aria-label={`Host ${id}`}>
            <h2>
              <HostMark host={id} /> Host {id} <small>{state}</small>
            </h2>
            <label>
              busy
              <meter min={0} max={1} high={0.85} value={load?.utilisation ?? 0} />{" "}
              {Math.round(100 * (load?.utilisation ?? 0))} %
            </label>
            <p>
              {count(load?.eventsPerSecond ?? 0)} events/s · {events} under way · {count(contexts)} contexts ·
              heap {bytes(load?.heapBytes ?? 0)} · p99 {ms(load?.p99Ms ?? null)} · queue{" "}
              {ms(load?.queueMs ?? null)}
              {restarts > 0 && ` · replaced ${restarts} times`}
            </p>
            <p>
              <Action run={() => post("hosts/drain", { host: id })} disabled={state !== "running"}>
                Drain
              </Action>{" "}
              <Action run={() => post("hosts/remove", { host: id })}>Remove</Action>{" "}
              {canKill && (
                <Action run={() => post("hosts/kill", { host: id })} danger>
                  Kill
                </Action>
              )}
            </p>
          </li>
        ))}
      </ul>
      <Notices notices={notices.filter(({ kind }) => kind !== "note")} />
    </>
  );
}
