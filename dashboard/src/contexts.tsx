import { useState } from "preact/hooks";
import { type Child, get } from "./api.js";
import { useEvery } from "./every.js";
import { count } from "./format.js";
import { HostMark } from "./host-mark.js";
import type { Live } from "./live.js";
import { OneContext } from "./one-context.js";
import { go, hrefOfContext, usePlace } from "./place.js";
import { TreeView } from "./tree-view.js";

/** The tree of contexts: who lives where, how busy each is, and what one holds. */
export function Contexts({ live: { overview } }: { live: Live }) {
  const [, chosen = null] = usePlace();
  const [search, setSearch] = useState("");
  if (overview === null) return <p class="faint">Loading…</p>;
  const choose = (address: string) => go("contexts", address);
  return (
    <div class={`split ${chosen === null ? "" : "with-one"}`}>
      <section class="list" aria-label="Contexts">
        <form
          class="filter"
          onSubmit={(event) => {
            event.preventDefault();
            if (search.trim() !== "") choose(search.trim());
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
        <Busiest text={search} />
        <div class="card">
          <h2>Tree</h2>
          <TreeView roots={overview.roots} chosen={chosen} choose={choose} />
        </div>
      </section>
      {chosen !== null && <OneContext key={chosen} address={chosen} overview={overview} />}
    </div>
  );
}

const EVERY_MS = 1000;

function Busiest({ text }: { text: string }) {
  const [contexts, setContexts] = useState<readonly Child["busy"][] | null>(null);
  useEvery(
    EVERY_MS,
    (signal) =>
      get<{ contexts: readonly Child["busy"][] }>("busy", { limit: "8", text }, signal).then((answer) =>
        setContexts(answer.contexts),
      ),
    [text],
  );
  return (
    <div class="card">
      <h2>Busiest</h2>
      {contexts?.length === 0 && (
        <p class="faint">No events in the last seconds{text === "" ? "" : " at contexts like this"}.</p>
      )}
      <ol class="busiest">
        {contexts?.map(
          (each) =>
            each !== null && (
              <li key={each.address}>
                <HostMark host={each.host} />
                <a class="address" href={hrefOfContext(each.address)}>
                  {each.address}
                </a>
                <span class="rate">{count(each.perSecond)}/s</span>
              </li>
            ),
        )}
      </ol>
    </div>
  );
}
