import { HeadwaterError, invariant } from "../../errors.js";
import { type Channel, type GraphEngine, redefined, whyNotRedefined } from "../graph/index.js";
import { meaningOf, type NodeDefinition } from "./plan.js";

/**
 * Makes a graph that was built by other definitions into one of these. What means the same stays as it is. A stream or a table with
 * other columns keeps its rows and their numbers. A query that is new or has changed, or reads something that has changed, begins
 * with the state that the retained rows of its inputs lead to. Its results begin with the rows that come from now on, and their numbers go
 * on. Definitions that are gone are removed. All of it is checked before anything is changed.
 */
export function upgrade(graph: GraphEngine, wanted: readonly NodeDefinition[], timeMs: number): void {
  const present = presentIn(graph);
  const kept = keptOf(present, wanted);
  const sources = wanted.filter((definition) => "columns" in definition && !kept.has(definition.name));
  for (const definition of sources) {
    const old = graph.nodes.source(definition.name);
    const why =
      old === null || !("columns" in definition) ? null : whyNotRedefined(old.definition, definition);
    if (why !== null)
      throw new HeadwaterError(
        "HW-5461",
        `"${definition.name}" cannot be changed like that: ${why}. Define it under another name, or keep its columns and add ` +
          "others that can be NULL.",
      );
  }
  const results = new Map(graph.nodes.queries.map(({ definition, out }) => [definition.name, out]));
  for (const { name } of [...graph.nodes.queries.map(({ definition }) => definition)].reverse())
    if (!kept.has(name)) carryOut(graph, { kind: "remove", name }, timeMs);
  for (const { definition } of graph.nodes.sources)
    if (!wanted.some(({ name, kind }) => name === definition.name && kind === definition.kind))
      carryOut(graph, { kind: "remove", name: definition.name }, timeMs);
  for (const definition of wanted) {
    if (kept.has(definition.name)) continue;
    const old = graph.nodes.source(definition.name);
    if (!("columns" in definition)) {
      carryOut(graph, { kind: "define query", definition }, timeMs);
      resume(graph, definition.name, results.get(definition.name));
    } else if (old === null) carryOut(graph, { kind: "define stream", definition }, timeMs);
    else graph.nodes.replaceSource(redefined(old, definition));
  }
}

/** The definitions that a graph holds. */
export function presentIn({ nodes }: GraphEngine): readonly NodeDefinition[] {
  return [
    ...nodes.sources.map(({ definition }) => definition),
    ...nodes.queries.map(({ definition }) => definition),
  ];
}

/** The names of what means the same as before, as does everything that it reads. */
function keptOf(present: readonly NodeDefinition[], wanted: readonly NodeDefinition[]): ReadonlySet<string> {
  const before = new Map(present.map((definition) => [definition.name, meaningOf(definition)]));
  const kept = new Set<string>();
  for (const definition of wanted) {
    const inputs = "inputs" in definition ? definition.inputs : [];
    const isSame = before.get(definition.name) === meaningOf(definition);
    if (isSame && inputs.every((input) => kept.has(input))) kept.add(definition.name);
  }
  return kept;
}

/** Results that were there before stay readable, if they have the same columns. */
function resume({ nodes }: GraphEngine, name: string, before: Channel | undefined): void {
  const out = nodes.query(name)?.out;
  if (before === undefined || out === undefined || out.retention.bytes === 0) return;
  if (JSON.stringify(before.schema) === JSON.stringify(out.schema)) out.inherit(before);
}

function carryOut(graph: GraphEngine, command: Parameters<GraphEngine["carryOut"]>[0], timeMs: number): void {
  const { refused } = graph.carryOut(command, timeMs);
  invariant(refused === null, `definitions that were checked are refused: ${refused?.message}`);
}
