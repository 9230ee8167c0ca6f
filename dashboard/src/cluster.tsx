import { useEffect, useState } from "preact/hooks";
import { type ClusterStatus, get } from "./api.js";
import { count } from "./format.js";

const EVERY_MS = 2000;

/** The members of the cluster, who is the head, and how far each has read the log. */
export function ClusterPage() {
  const [status, setStatus] = useState<ClusterStatus | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isClosed = false;
    const looking = async () => {
      while (!isClosed) {
        await get<{ cluster: ClusterStatus | null }>("cluster")
          .then(({ cluster }) => {
            setStatus(cluster);
            setProblem(null);
          })
          .catch((error: Error) => setProblem(error.message));
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }
    };
    void looking();
    return () => {
      isClosed = true;
    };
  }, []);
  return (
    <>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {status === null ? (
        <p>Listening to the members…</p>
      ) : (
        <>
          <p>
            Cluster {status.cluster}, log at {count(status.position)}, snapshot at {count(status.snapshot)},{" "}
            {status.replicasCurrent} of {status.replicas} replicas up to date
          </p>
          <table aria-label="Members">
            <thead>
              <tr>
                <th scope="col">member</th>
                <th scope="col">role</th>
                <th scope="col">state</th>
                <th scope="col">position</th>
                <th scope="col">behind</th>
              </tr>
            </thead>
            <tbody>
              {status.members.map(({ member, isHead, state, position, lag }) => (
                <tr key={member}>
                  <td>{member}</td>
                  <td>{isHead ? "head" : "standby"}</td>
                  <td>{state}</td>
                  <td>{position}</td>
                  <td>{lag}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}
