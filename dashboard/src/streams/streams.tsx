import { useEffect, useMemo, useState } from "preact/hooks";
import { type GraphStream, get, Refused } from "../api.js";
import { count } from "../format.js";
import { Rows } from "../rows.js";
import { hrefOf, useChosen } from "./chosen.js";
import { LabelMark } from "./label.js";
import { OneStream } from "./one-stream.js";
import { Outputs } from "./outputs.js";
import { GraphPicture } from "./picture.js";
import { Register } from "./register.js";

/** A stream or query with how many rows it gets per second. */
export type LiveStream = GraphStream & { readonly perSecond: number };

const EVERY_MS = 1000;

/** Streams and standing queries: the graph, what flows through it, and what can be done with it. */
export function StreamsPage({ scopes }: { scopes: readonly string[] }) {
  const [tenants, setTenants] = useState<readonly string[]>([]);
  const [tenant, setTenant] = useState<string | null>(null);
  useEffect(() => {
    void get<{ tenants: readonly string[] }>("tenants").then((answer) => {
      setTenants(answer.tenants);
      setTenant((before) => before ?? answer.tenants[0] ?? null);
    });
  }, []);
  if (tenant === null) return <p>Loading…</p>;
  const canDefine = scopes.includes("define") || scopes.includes("admin");
  return (
    <>
      {tenants.length > 1 && (
        <p>
          <label>
            Tenant{" "}
            <select value={tenant} onChange={(event) => setTenant(event.currentTarget.value)}>
              {tenants.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        </p>
      )}
      <TenantGraph key={tenant} tenant={tenant} canDefine={canDefine} />
    </>
  );
}

function useGraph(path: string) {
  const [streams, setStreams] = useState<readonly LiveStream[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let before = new Map<string, { next: number; atMs: number }>();
    let isClosed = false;
    const look = async () => {
      try {
        const answer = await get<{ streams: readonly GraphStream[] }>(`${path}/graph`);
        const nowMs = performance.now();
        if (isClosed) return;
        setStreams(
          answer.streams.map((each) => {
            const { next = each.next, atMs = 0 } = before.get(each.name) ?? {};
            return { ...each, perSecond: (1000 * (each.next - next)) / Math.max(1, nowMs - atMs) };
          }),
        );
        before = new Map(answer.streams.map(({ name, next }) => [name, { next, atMs: nowMs }]));
        setProblem(null);
      } catch (error) {
        if (error instanceof Refused) setProblem(error.message);
      }
    };
    // One look after the other: a server that takes long is not asked for more meanwhile.
    const looking = async () => {
      while (!isClosed) {
        await look();
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }
    };
    void looking();
    return () => {
      isClosed = true;
    };
  }, [path, asked]);
  return { streams, problem, again: () => setAsked(asked + 1) };
}

function TenantGraph({ tenant, canDefine }: { tenant: string; canDefine: boolean }) {
  const path = `streams/${tenant}/v1`;
  const { streams, problem, again } = useGraph(path);
  const [chosen, setChosen] = useChosen();
  const [text, setText] = useState("");
  const rows = useMemo(
    () =>
      (streams ?? [])
        .filter(({ name, sql }) => name.includes(text) || sql?.includes(text) === true)
        .map((stream) => ({ key: stream.name, stream })),
    [streams, text],
  );
  if (problem !== null)
    return (
      <p class="problem" role="alert">
        {problem}
      </p>
    );
  if (streams === null) return <p>Loading…</p>;
  const one = streams.find(({ name }) => name === chosen) ?? null;
  return (
    <div class="split">
      <section aria-label="Streams and queries">
        <GraphPicture streams={streams} chosen={chosen} />
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          <label>
            Name or SQL{" "}
            <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <span>
            {streams.filter(({ sql }) => sql === null).length} streams,{" "}
            {streams.filter(({ sql }) => sql !== null).length} queries
          </span>
        </form>
        <Rows
          label="List of streams and queries"
          rows={rows}
          show={({ stream: each }) => (
            <span class="node">
              <LabelMark stream={each} />{" "}
              <a href={hrefOf(each.name)} class={each.name === chosen ? "chosen" : ""}>
                {each.name}
              </a>{" "}
              <small>{each.kind}</small>
              <small class="rate">
                {count(each.perSecond)} rows/s · {count(each.next - 1)} rows
                {each.late > 0 && ` · ${count(each.late)} late`}
                {each.errors > 0 && ` · ${count(each.errors)} errors`}
              </small>
            </span>
          )}
        />
        {canDefine && (
          <Register
            path={path}
            registered={(name) => {
              again();
              setChosen(name);
            }}
          />
        )}
        <Outputs path={path} streams={streams} canDefine={canDefine} />
      </section>
      {one !== null && (
        <OneStream
          key={one.name}
          path={path}
          stream={one}
          canDefine={canDefine}
          removed={() => {
            setChosen(null);
            again();
          }}
        />
      )}
    </div>
  );
}
