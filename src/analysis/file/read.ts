/** Annotation files (section VI), as printed in the paper and with what Headwater adds: docs/analysis.md. */

import { HeadwaterError } from "../../errors.js";
import { didYouMean } from "../../suggest.js";
import type { Acceptance, Component, ComponentPath, Dataflow, Dependency, Stream } from "../graph.js";
import type { DeriveOptions } from "../sql/derive.js";
import { checkAttributes } from "./attributes.js";
import {
  addAlternative,
  isAlternative,
  readComponent,
  toComponent,
  type WrittenComponent,
} from "./components.js";
import { impliedStreams } from "./connect.js";
import { type MappingEntry, YamlPage } from "./problems.js";
import { readAcceptance, readDependencies, readStreams, type WrittenStream } from "./streams.js";

/**
 * Derives the paths of a query from its inputs, given with their columns, to the output named `to`, and how attributes
 * in their gates are made.
 */
export type DeriveFromSql = (
  sql: string,
  tables: Readonly<Record<string, readonly string[]>>,
  to: string,
  options: Pick<DeriveOptions, "request" | "openRequests" | "types">,
) => Promise<{ readonly paths: readonly ComponentPath[]; readonly dependencies: readonly Dependency[] }>;

export interface ReadOptions {
  /** What to call the text in messages: the name of its file. */
  readonly source?: string;
  /** Left out: `derivePaths`. */
  readonly deriveFromSql?: DeriveFromSql;
}

/** Throws HW-5001 with every problem of the text and where it is. */
export async function readDataflow(text: string, options: ReadOptions = {}): Promise<Dataflow> {
  const page = new YamlPage(text, options.source ?? "dataflow");
  const { written, sections } = readEntries(page);
  const components: Component[] = [];
  const dependencies: Dependency[] = [];
  for (const each of written) {
    const derived = await derivedPaths(page, each, options.deriveFromSql);
    components.push(toComponent(page, each, derived.paths));
    dependencies.push(...derived.dependencies);
  }
  const accepted: Acceptance[] = [];
  const byName = new Map(components.map((each) => [each.name, each]));
  const streams = sections.streams.flatMap(({ value }) => readStreams(page, value, byName, accepted));
  dependencies.push(...sections.dependencies.flatMap(({ value }) => readDependencies(page, value)));
  accepted.push(...sections.accept.flatMap(({ value }) => readAcceptance(page, value)));
  const connected = connect(page, components, streams);
  for (const { stream, position } of accepted) {
    if (connected.some(({ name }) => name === stream) || position === undefined) continue;
    page.problemAt(position, `There is no stream "${stream}" to accept.${hintAt(stream, connected)}`);
  }
  const graph = { components, streams: connected, dependencies, accepted };
  checkAttributes(page, graph);
  page.finish();
  return graph;
}

interface Sections {
  readonly streams: MappingEntry[];
  readonly dependencies: MappingEntry[];
  readonly accept: MappingEntry[];
}

function readEntries(page: YamlPage): { written: WrittenComponent[]; sections: Sections } {
  const written: WrittenComponent[] = [];
  const sections: Sections = { streams: [], dependencies: [], accept: [] };
  for (const entry of page.entries(page.root, "An annotation file")) {
    const section = Object.hasOwn(sections, entry.key) ? sections[entry.key as keyof Sections] : undefined;
    if (section !== undefined) {
      section.push(entry);
    } else if (isAlternative(page, entry.value)) {
      const owner = written.at(-1);
      if (owner === undefined)
        page.problem(entry.keyNode, `${entry.key} belongs to the component above it; there is none.`);
      else addAlternative(page, owner.alternatives, entry);
    } else {
      written.push(readComponent(page, entry));
    }
  }
  return { written, sections };
}

async function derivedPaths(page: YamlPage, { query }: WrittenComponent, derive: DeriveFromSql | undefined) {
  const none = { paths: [], dependencies: [] };
  if (query === null) return none;
  try {
    // PostgreSQL's parser is large; who has no queries does not load it.
    const derived = derive ?? (await import("../sql/derive.js")).derivePaths;
    const { sql, tables, to, ...options } = query.runs;
    return await derived(sql, tables, to, options);
  } catch (error) {
    // What is wrong with the query is told with what else is wrong with the file; anything else is not the file's fault.
    if (!(error instanceof HeadwaterError)) throw error;
    page.problem(query.node, error.message);
    return none;
  }
}

/** What the file connects, what follows from names, and what the file says about the latter. */
function connect(
  page: YamlPage,
  components: readonly Component[],
  written: readonly WrittenStream[],
): Stream[] {
  const explicit = written.filter(({ connects }) => connects).map(({ stream }) => stream);
  const all = [...explicit, ...impliedStreams(components, explicit)];
  const byName = new Map<string, Stream>();
  for (const stream of all) {
    const twin = byName.get(stream.name);
    if (twin?.position !== undefined && stream.position !== undefined) {
      page.problemAt(stream.position, `There are two streams named "${stream.name}".`);
    }
    byName.set(stream.name, stream);
  }
  for (const { node, connects, stream } of written) {
    if (connects) continue;
    const implied = byName.get(stream.name);
    if (implied === undefined) {
      page.problem(node, `There is no stream "${stream.name}".${hintAt(stream.name, all)}`);
    } else {
      byName.set(stream.name, { ...stream, from: implied.from, to: implied.to });
    }
  }
  return [...byName.values()];
}

function hintAt(name: string, streams: readonly Stream[]): string {
  const names = streams.map((each) => each.name);
  return didYouMean(name, names) || ` There are: ${names.toSorted().join(", ")}.`;
}
