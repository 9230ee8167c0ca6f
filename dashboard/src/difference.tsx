import { changesOf } from "../../src/dashboard/changes.js";
import { shortOf } from "./state-tree.js";

const SHOWN_MAX = 100;

/** What differs between two states of a context: a line for each field, key or item. `null` is a context that does not exist. */
export function Difference({ before, after }: { before: unknown; after: unknown }) {
  return (
    <div role="group" aria-label="What differs">
      <Differing before={before} after={after} />
    </div>
  );
}

function Differing({ before, after }: { before: unknown; after: unknown }) {
  if (before === null || after === null) {
    if (before === after) return <p class="faint">It does not exist at either.</p>;
    return <p>{before === null ? "It was made." : "It was deleted."}</p>;
  }
  const changes = changesOf(before, after);
  if (changes.length === 0) return <p class="faint">No difference.</p>;
  return (
    <>
      <table class="difference">
        <thead>
          <tr>
            <th scope="col">where</th>
            <th scope="col">before</th>
            <th scope="col">after</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, SHOWN_MAX).map(({ path, before: was, after: is }) => (
            <tr key={path.join(" › ")}>
              <th scope="row">{path.join(" › ")}</th>
              <td>{was === undefined ? <span class="faint">nothing</span> : <del>{shortOf(was)}</del>}</td>
              <td>{is === undefined ? <span class="faint">nothing</span> : <ins>{shortOf(is)}</ins>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length > SHOWN_MAX && <p class="faint">… and {changes.length - SHOWN_MAX} more</p>}
    </>
  );
}
