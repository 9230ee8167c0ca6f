import { useEffect, useState } from "preact/hooks";
import { Action } from "./action.js";
import { type Child, get, type Outline, type Overview, post } from "./api.js";
import { count } from "./format.js";
import { HostMark } from "./hosts.js";
import type { Live } from "./live.js";
import { Rows } from "./rows.js";
import { TimeTravel } from "./time-travel.js";
import { type Row, useTree } from "./tree.js";

/** The tree of contexts: who lives where, how busy each is, and what one holds. */
export function Contexts({ live: { overview } }: { live: Live }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [search, setSearch] = useState("");
  const { rows, toggle, more } = useTree(overview?.roots ?? []);
  if (overview === null) return <p>Loading…</p>;
  return (
    <div class="split">
      <section aria-label="Contexts">
        <form
          class="filter"
          onSubmit={(event) => {
            event.preventDefault();
            if (search.trim() !== "") setChosen(search.trim());
          }}
        >
          <label>
            Address{" "}
            <input
              type="search"
              value={search}
              placeholder={`${overview.roots[0] ?? "Game"}.rooms(1)`}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Show</button>
        </form>
        <Busiest text={search} choose={setChosen} />
        <h2>Tree</h2>
        <Rows
          label="Tree of contexts"
          rows={rows}
          show={(row: Row) =>
            row.kind === "more" ? (
              <button
                type="button"
                class="link"
                style={{ marginLeft: `${row.depth * 1.2}em` }}
                onClick={() => more(row)}
              >
                more…
              </button>
            ) : (
              <span class="node" style={{ marginLeft: `${row.depth * 1.2}em` }}>
                <button
                  type="button"
                  class="twist"
                  aria-expanded={row.isOpen}
                  aria-label={row.isOpen ? "close" : "open"}
                  onClick={() => toggle(row)}
                >
                  {row.isOpen ? "▾" : "▸"}
                </button>{" "}
                <HostMark host={row.host} />{" "}
                <button
                  type="button"
                  class={`link ${row.address === chosen ? "chosen" : ""}`}
                  onClick={() => setChosen(row.address)}
                >
                  {row.label}
                </button>
                {row.busy !== null && <small class="rate">{count(row.busy.perSecond)}/s</small>}
              </span>
            )
          }
        />
      </section>
      {chosen !== null && <One address={chosen} overview={overview} />}
    </div>
  );
}

function Busiest({ text, choose }: { text: string; choose: (address: string) => void }) {
  const [contexts, setContexts] = useState<readonly Child["busy"][]>([]);
  useEffect(() => {
    const look = () =>
      get<{ contexts: readonly Child["busy"][] }>("busy", { limit: "8", text })
        .then((answer) => setContexts(answer.contexts))
        .catch(() => {});
    void look();
    const again = setInterval(look, 1000);
    return () => clearInterval(again);
  }, [text]);
  return (
    <>
      <h2>Busiest</h2>
      <ol class="busiest">
        {contexts.map(
          (each) =>
            each !== null && (
              <li key={each.address}>
                <HostMark host={each.host} />{" "}
                <button type="button" class="link" onClick={() => choose(each.address)}>
                  {each.address}
                </button>{" "}
                <small class="rate">{count(each.perSecond)}/s</small>
              </li>
            ),
        )}
      </ol>
    </>
  );
}

/** One context: its state, and where it lives. */
function One({ address, overview }: { address: string; overview: Overview }) {
  const [outline, setOutline] = useState<Outline | null>(null);
  const [state, setState] = useState<unknown>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const look = async () => {
    try {
      setProblem(null);
      setOutline(await get<Outline>("context", { address }));
      setState((await get<{ state: unknown }>("state", { address })).state);
    } catch (error) {
      setOutline(null);
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  useEffect(() => void look(), [address]);
  const others = overview.hosts?.filter(({ id, state }) => id !== outline?.host && state === "running") ?? [];
  return (
    <aside aria-label="One context">
      <h2>{address}</h2>
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {outline !== null && (
        <>
          <p>
            {outline.className} {outline.host !== null && <HostMark host={outline.host} />}{" "}
            {outline.busy !== null && `${count(outline.busy.perSecond)} events/s`}
          </p>
          <p>
            <Action run={look}>Read again</Action>{" "}
            {others.map(({ id }) => (
              <Action key={id} run={() => post("migrate", { context: address, host: id }).then(look)}>
                Migrate to host {id}
              </Action>
            ))}
          </p>
          <h3>State</h3>
          <TimeTravel address={address} now={state} />
        </>
      )}
    </aside>
  );
}
