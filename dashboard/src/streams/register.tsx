import { useState } from "preact/hooks";
import { Action } from "../action.js";
import { post } from "../api.js";

/** Registers a stream, a table, a view or a query by its SQL, or explains what it would be. */
export function Register({ path, registered }: { path: string; registered: (name: string) => void }) {
  const [name, setName] = useState("");
  const [sql, setSql] = useState("");
  const [explained, setExplained] = useState<string | null>(null);
  const isSelect = /^\s*(select|with)\b/i.test(sql);
  const register = async () => {
    const { id } = await post<{ id: string }>(`${path}/sql`, isSelect ? { sql, name: name.trim() } : { sql });
    setExplained(null);
    registered(id);
  };
  const explain = async () => {
    setExplained((await post<{ explain: string }>(`${path}/sql`, { sql: `EXPLAIN ${sql}` })).explain);
  };
  return (
    <section class="card" aria-label="Register">
      <h2>Register</h2>
      <p>
        <textarea
          rows={4}
          aria-label="SQL"
          placeholder="SELECT … FROM … (a query), CREATE STREAM …, CREATE TABLE …, CREATE MATERIALIZED VIEW …"
          value={sql}
          onInput={(event) => setSql(event.currentTarget.value)}
        />
      </p>
      <p class="filter actions">
        {isSelect && (
          <label>
            Name of the query <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        <Action run={register} disabled={sql.trim() === "" || (isSelect && name.trim() === "")}>
          Register
        </Action>
        <Action run={explain} disabled={sql.trim() === ""}>
          Explain
        </Action>
      </p>
      {explained !== null && <pre class="explain">{explained}</pre>}
    </section>
  );
}
