import { useState } from "preact/hooks";
import { Action } from "./action.js";
import { type ClusterStatus, get, type LogStatus, post } from "./api.js";
import { useEvery } from "./every.js";
import { count } from "./format.js";
import { HostMark } from "./host-mark.js";
import { Fact } from "./hosts.js";

const EVERY_MS = 2000;

/** The members of the cluster, who is the head of each log, how far each has read it, and what is promised. */
export function ClusterPage() {
  const [status, setStatus] = useState<ClusterStatus | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const look = (signal?: AbortSignal) =>
    get<{ cluster: ClusterStatus | null }>("cluster", {}, signal)
      .then(({ cluster }) => {
        setStatus(cluster);
        setProblem(null);
      })
      .catch((error: Error) => {
        if (signal?.aborted !== true) setProblem(error.message);
      });
  useEvery(EVERY_MS, look, []);
  return (
    <>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {status === null ? (
        <p class="faint">Listening to the members…</p>
      ) : (
        <Cluster status={status} look={look} />
      )}
    </>
  );
}

function Cluster({ status, look }: { status: ClusterStatus; look: () => Promise<unknown> }) {
  const head = status.members.find(({ isHead }) => isHead);
  return (
    <>
      <dl class="figures card" aria-label="The cluster">
        <Fact name="cluster" value={status.cluster} />
        <Fact name="head" value={head?.member ?? "none"} id="cluster-head" />
        <Fact name="members" value={String(status.members.length)} />
        <Fact name="log at" value={count(status.position)} />
        <Fact name="snapshot at" value={status.snapshot === 0 ? "none" : count(status.snapshot)} />
        <Fact name="servers up to date" value={`${status.replicasCurrent} of ${status.replicas}`} />
      </dl>
      {head === undefined && (
        <p class="problem" role="alert">
          There is no head: requests wait until a standby has taken over.
        </p>
      )}
      <p class="card">What is acknowledged survives {status.promised}.</p>
      <LogMembers name="Members" log={{ ...status, log: "" }} look={look} />
      {status.logs.map((log) => (
        <LogMembers key={log.log} name={`Log ${log.log} (${log.program})`} log={log} look={look} />
      ))}
      {status.hosts !== null && (
        <section class="card wide" aria-label="Hosts of the cluster">
          <h2>Hosts</h2>
          <table>
            <thead>
              <tr>
                <th scope="col">host</th>
                <th scope="col">of</th>
                <th scope="col">state</th>
                <th scope="col">contexts</th>
                <th scope="col">under way</th>
              </tr>
            </thead>
            <tbody>
              {status.hosts.map(({ id, member, state, contexts, events }) => (
                <tr key={id}>
                  <td>
                    <HostMark host={id} />
                  </td>
                  <td>{member ?? head?.member}</td>
                  <td>{state}</td>
                  <td>{count(contexts)}</td>
                  <td>{count(events)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

/** One log: who is the head, how far the standbys are behind, and what can be done with them. */
function LogMembers({ name, log, look }: { name: string; log: LogStatus; look: () => Promise<unknown> }) {
  const act = (path: string, body: object) => () => post(`cluster/${path}`, body).then(() => look());
  return (
    <section class="card wide" aria-label={name}>
      <h2>{name}</h2>
      <table aria-label={name}>
        <thead>
          <tr>
            <th scope="col">member</th>
            <th scope="col">role</th>
            <th scope="col">state</th>
            <th scope="col">position</th>
            <th scope="col">behind</th>
            <th scope="col">program</th>
            <th scope="col">
              <span class="unseen">what can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {log.members.map(({ member, isHead, state, position, lag, about }) => (
            <tr key={member} class={about === null ? "failed" : ""}>
              <th scope="row">{member}</th>
              <td>
                {isHead ? <span class="badge good">head</span> : state === "gateway" ? "gateway" : "standby"}
              </td>
              <td>{about === null ? "does not answer" : about.isDrained ? "drained" : state}</td>
              <td>{count(position)}</td>
              <td>{count(lag)}</td>
              <td>{about?.version ?? ""}</td>
              <td class="actions">
                {!isHead && state === "standby" && about?.isDrained === false && (
                  <Action
                    label={`Make head: ${member}${log.log === "" ? "" : ` of ${log.log}`}`}
                    run={act("handover", { to: member, log: log.log })}
                  >
                    Make head
                  </Action>
                )}
                {log.log === "" && about?.isDrained === false && (
                  <Action
                    label={`Drain ${member}`}
                    run={act("drain", { member })}
                    confirm={`Drain ${member}? It is no head and has no hosts any more, until its process is started again.`}
                    danger
                  >
                    Drain
                  </Action>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
