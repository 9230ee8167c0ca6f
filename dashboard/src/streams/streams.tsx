import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api.js";
import { count } from "../format.js";
import { go, hrefOf, usePlace } from "../place.js";
import { Rows } from "../rows.js";
import { useGraph } from "./graph.js";
import { LabelMark } from "./label.js";
import { OneStream } from "./one-stream.js";
import { Outputs } from "./outputs.js";
import { GraphPicture } from "./picture.js";
import { Register } from "./register.js";

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

function TenantGraph({ tenant, canDefine }: { tenant: string; canDefine: boolean }) {
  const path = `streams/${tenant}/v1`;
  const { streams, problem, again } = useGraph(path);
  const [, chosen = null] = usePlace();
  const setChosen = (name: string | null) => (name === null ? go("streams") : go("streams", name));
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
  if (streams === null) return <p class="faint">Loading…</p>;
  const one = streams.find(({ name }) => name === chosen) ?? null;
  return (
    <div class={`split ${one === null ? "" : "with-one"}`}>
      <section class="list" aria-label="Streams and queries">
        <GraphPicture streams={streams} chosen={chosen} />
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          <label>
            Name or SQL{" "}
            <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
          <span class="faint">
            {many(streams.filter(({ sql }) => sql === null).length, "stream", "streams")},{" "}
            {many(streams.filter(({ sql }) => sql !== null).length, "query", "queries")}
          </span>
        </form>
        <div class="card">
          <Rows
            label="List of streams and queries"
            rows={rows}
            show={({ stream: each }) => (
              <span class="node">
                <LabelMark stream={each} />
                <a
                  class="address"
                  href={hrefOf("streams", each.name)}
                  aria-current={each.name === chosen ? "true" : undefined}
                >
                  {each.name}
                </a>
                <span class="rate">
                  {each.kind} · {count(each.perSecond)} rows/s · {count(each.next - 1)} rows
                  {each.late > 0 && <b> · {count(each.late)} late</b>}
                  {each.errors > 0 && <b class="bad"> · {count(each.errors)} errors</b>}
                </span>
              </span>
            )}
          />
        </div>
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

function many(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}
