import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Analysis,
  type AnnotationKind,
  analyze,
  type ComponentPath,
  type Dataflow,
  type Gate,
  readDataflow,
} from "headwater/analysis";
import { ROOT } from "../house/source.js";

/** Section VI.A, as printed. */
export const WORDCOUNT = `
Splitter:
  annotation:
    - { from: tweets, to: words, label: CR }
Count:
  annotation:
    - { from: words, to: counts, label: OW,
        subscript: [word, batch] }
Commit:
  annotation: { from: counts, to: db, label: CW }
`;

/** Section VI.B, as printed. */
export const AD_NETWORK = `
Cache:
  annotation:
    - { from: request, to: response, label: CR }
    - { from: response, to: response, label: CW }
    - { from: request, to: request, label: CR }
Report:
  Rep: true
  annotation:
    - { from: click, to: response, label: CW }
POOR: { from: request, to: response, label: OR,
        subscript: [id] }
THRESH: { from: request, to: response, label: CR }
WINDOW: { from: request, to: response, label: OR,
          subscript: [id, window] }
CAMPAIGN: { from: request, to: response, label: OR,
            subscript: [id, campaign] }
`;

export async function analysisOf(text: string): Promise<Analysis> {
  return analyze(await readDataflow(text));
}

export function exampleText(name: string): string {
  return readFileSync(join(ROOT, "examples", "analysis", `${name}.yaml`), "utf8");
}

export function exampleNames(): string[] {
  const files = readdirSync(join(ROOT, "examples", "analysis"));
  return files.flatMap((name) => (name.endsWith(".yaml") ? [name.replace(/\.yaml$/, "")] : []));
}

export async function example(name: string): Promise<Analysis> {
  return await analysisOf(exampleText(name));
}

/** The labels of all streams, as words. */
export function labels({ streams }: Analysis): Record<string, string> {
  return Object.fromEntries([...streams].map(([name, { label }]) => [name, label]));
}

export function path(from: string, to: string, annotation: AnnotationKind, gate: Gate = "*"): ComponentPath {
  return { from, to, annotation, gate };
}

/** A graph with nothing but components and streams: `a.in` to `b.out` and so on, `null` for the outside. */
export function graph(
  components: Readonly<
    Record<string, readonly ComponentPath[] | { rep?: boolean; paths: readonly ComponentPath[] }>
  >,
  streams: Readonly<
    Record<string, readonly [from: string | null, to: string | null, seal?: readonly string[]]>
  >,
): Dataflow {
  const port = (text: string | null) => {
    if (text === null) return null;
    const [component = "", name = ""] = text.split(".");
    return { component, interface: name };
  };
  return {
    components: Object.entries(components).map(([name, given]) =>
      "paths" in given ? { name, ...given } : { name, paths: given },
    ),
    streams: Object.entries(streams).map(([name, [from, to, key]]) => ({
      name,
      from: port(from),
      to: port(to),
      seals: key === undefined ? [] : [{ key, prefix: false }],
    })),
    dependencies: [],
    accepted: [],
  };
}
