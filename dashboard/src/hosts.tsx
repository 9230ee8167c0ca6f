import { Action } from "./action.js";
import { type Overview, post } from "./api.js";
import { bytes, count, ms } from "./format.js";
import { HostMark, hostHue } from "./host-mark.js";
import type { Live } from "./live.js";
import { Notices } from "./notices.js";

type Host = NonNullable<Overview["hosts"]>[number];

/** The hosts that run events, how busy each is, and what can be done with them. */
export function Hosts({ live: { overview, notices } }: { live: Live }) {
  if (overview === null) return <p class="faint">Loading…</p>;
  const { hosts, canKill } = overview;
  if (hosts === null)
    return (
      <p class="card">
        The program runs in one thread. Start it with <code>--hosts 2</code> (and <code>--journal DIR</code>,
        so that a lost host is replaced) to spread its contexts over hosts.
      </p>
    );
  return (
    <>
      <div class="bar-of-actions">
        <h2>
          {hosts.length} {hosts.length === 1 ? "host" : "hosts"}
        </h2>
        <Action run={() => post("hosts/add")}>Add a host</Action>
      </div>
      <ul class="hosts">
        {hosts.map((host) => (
          <HostCard key={host.id} host={host} canKill={canKill} />
        ))}
      </ul>
      <Notices notices={notices.filter(({ kind }) => kind !== "note")} />
    </>
  );
}

function HostCard({
  host: { id, state, contexts, events, restarts, load },
  canKill,
}: {
  host: Host;
  canKill: boolean;
}) {
  const busy = Math.round(100 * (load?.utilisation ?? 0));
  return (
    <li class="card" aria-label={`Host ${id}`}>
      <h3>
        <HostMark host={id} /> Host {id} <span class={`state-of ${state}`}>{state}</span>
      </h3>
      <div class="load">
        <div
          class="meter"
          role="meter"
          aria-label={`How busy host ${id} is`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={busy}
          aria-valuetext={`${busy} percent`}
        >
          <i style={{ width: `${busy}%`, "--hue": hostHue(id) }} />
        </div>
        <span>{busy} % busy</span>
      </div>
      <dl class="facts">
        <Fact name="events/s" value={count(load?.eventsPerSecond ?? 0)} />
        <Fact name="under way" value={count(events)} />
        <Fact name="contexts" value={count(contexts)} />
        <Fact name="p99" value={ms(load?.p99Ms ?? null)} />
        <Fact name="queue" value={ms(load?.queueMs ?? null)} />
        <Fact name="heap" value={bytes(load?.heapBytes ?? 0)} />
      </dl>
      {restarts > 0 && <p class="faint">replaced {restarts === 1 ? "once" : `${restarts} times`}</p>}
      <p class="actions">
        <Action
          label={`Drain host ${id}`}
          run={() => post("hosts/drain", { host: id })}
          disabled={state !== "running"}
        >
          Drain
        </Action>
        <Action label={`Remove host ${id}`} run={() => post("hosts/remove", { host: id })}>
          Remove
        </Action>
        {canKill && (
          <Action label={`Kill host ${id}`} run={() => post("hosts/kill", { host: id })} danger>
            Kill
          </Action>
        )}
      </p>
    </li>
  );
}

/** A name and a value of a list of facts (`dl`). */
export function Fact({ name, value, id }: { name: string; value: string; id?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd id={id}>{value}</dd>
    </div>
  );
}
