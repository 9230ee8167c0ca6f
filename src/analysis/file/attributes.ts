/**
 * Attributes that are misspelt would be silently useless: no gate fits a seal on `bacth`. Where the attributes of a stream are
 * declared, seals and gates may name only those, and what they determine. Where they are not, a name that stands nowhere else
 * and is nearly another one is taken for a slip.
 */

import { didYouMean } from "../../suggest.js";
import { Dependencies } from "../dependencies.js";
import type { ComponentPath, Dataflow, SourcePosition, Stream } from "../graph.js";
import { grouped } from "../grouped.js";
import type { YamlPage } from "./problems.js";

export function checkAttributes(page: YamlPage, graph: Dataflow): void {
  const dependencies = new Dependencies(graph.dependencies);
  const columns = columnsOf(graph);
  const readers = new Map(
    graph.components.map(({ name, paths }) => [name, grouped(paths, ({ from }) => from)]),
  );
  const uses = usesOf(graph);
  const check = (
    position: SourcePosition | undefined,
    what: string,
    names: readonly string[],
    stream: Stream,
  ) => {
    const declared = stream.attributes ?? columns(stream);
    const known = declared === undefined ? null : dependencies.closure(declared);
    for (const name of names) {
      if (known?.has(name) === true || position === undefined) continue;
      if (known !== null) {
        const hint = didYouMean(name, known) || ` There are: ${[...known].join(", ")}.`;
        page.problemAt(
          position,
          `${what} names "${name}", which records of ${stream.name} do not have.${hint}`,
        );
      } else if ((uses.get(name) ?? 0) < 2) {
        const others = [...uses.keys()].filter((each) => each !== name);
        const hint = didYouMean(name, others);
        if (hint !== "") page.problemAt(position, `${what} names "${name}", and nothing else does.${hint}`);
      }
    }
  };
  for (const stream of graph.streams) {
    const { to, position, id, ordered, changelog } = stream;
    for (const { key } of stream.seals) check(position, `A seal of ${stream.name}`, key, stream);
    check(position, `${stream.name}`, [...(id ?? []), ...(ordered ?? []), ...(changelog ?? [])], stream);
    for (const path of readers.get(to?.component ?? "")?.get(to?.interface ?? "") ?? []) {
      if (path.gate === "*" || path.why !== undefined) continue; // gates of queries are derived, and may be expressions
      check(path.position, "A subscript", ownAttributes(path, stream, graph), stream);
    }
  }
}

/** Of the gate of a read, what its own records must have is not known: it is about the records that it reads. */
function ownAttributes(
  { annotation, gate, to }: ComponentPath,
  stream: Stream,
  { components }: Dataflow,
): readonly string[] {
  const reader = components.find(({ name }) => name === stream.to?.component);
  const isWritten = reader?.paths.some((path) => path.to === to && path.annotation.endsWith("W")) === true;
  return gate === "*" || (annotation === "OR" && isWritten) ? [] : gate;
}

function columnsOf({ components }: Dataflow): (stream: Stream) => readonly string[] | undefined {
  const tables = new Map(
    components.flatMap(({ name, runs }) =>
      runs !== undefined && "sql" in runs ? [[name, runs.tables]] : [],
    ),
  );
  return ({ to }) => tables.get(to?.component ?? "")?.[to?.interface ?? ""];
}

/** In how many places of the file each attribute stands. */
function usesOf({ components, streams, dependencies }: Dataflow): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const use = (names: readonly string[]) => {
    for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  };
  for (const { paths } of components) {
    for (const { gate, lineage } of paths) {
      if (gate !== "*") use(gate);
      for (const { from, to } of lineage ?? []) use([...from, to]);
    }
  }
  for (const { seals, id, ordered, changelog, attributes, sample } of streams) {
    for (const { key } of seals) use(key);
    use([...(id ?? []), ...(ordered ?? []), ...(changelog ?? []), ...(attributes ?? [])]);
    use(Object.keys(sample?.[0] ?? {}));
  }
  for (const { from, to } of dependencies) use([...from, ...to]);
  return uses;
}
