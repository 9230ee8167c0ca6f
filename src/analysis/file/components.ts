import type { Node } from "yaml";
import type {
  AnnotationKind,
  AttributeType,
  ColumnTypes,
  Component,
  ComponentPath,
  Gate,
  Lineage,
  Override,
  Repetition,
  Runs,
} from "../graph.js";
import { isOrderSensitive } from "../labels.js";
import { columnType, TYPE_NAMES } from "../sql/column-types.js";
import type { MappingEntry, YamlPage } from "./problems.js";

const KINDS: readonly AnnotationKind[] = ["CR", "CW", "OR", "OW"];
const REPETITIONS: readonly Repetition[] = ["passes", "minds", "absorbs"];
const PATH_KEYS = ["from", "to", "label", "subscript", "repetition", "lineage"];
const QUERY_KEYS = ["sql", "tables", "to", "request", "open-requests"];
const COMPONENT_KEYS = ["annotation", "Rep", "rep", "use", "coordination", "runs", ...QUERY_KEYS];
const COORDINATIONS: readonly Override["kind"][] = ["none", "seal", "order"];
const LINEAGE_KEYS = ["from", "injective", "order-preserving"];

/** A query that a component runs, whose paths are to be derived. */
export interface ComponentQuery {
  readonly node: Node;
  readonly runs: QueryRuns;
}

export type QueryRuns = Extract<Runs, { readonly sql: string }>;

/** A component as it is written: with alternatives to choose from (the queries of figure 6), or with a query. */
export interface WrittenComponent {
  readonly entry: MappingEntry;
  readonly paths: readonly ComponentPath[];
  readonly rep: boolean | undefined;
  readonly alternatives: Map<string, ComponentPath>;
  readonly use: MappingEntry | undefined;
  readonly coordination: Override | null;
  readonly query: ComponentQuery | null;
  readonly runs: Runs | null;
}

/** Says whether an entry of the file is a path that stands for itself, as figure 6's queries do in section VI.B. */
export function isAlternative(page: YamlPage, node: Node): boolean {
  if (!page.isMapping(node)) return false;
  const keys = page.entries(node, "").map(({ key }) => key);
  return keys.includes("label") && keys.includes("from") && !keys.includes("annotation");
}

export function readComponent(page: YamlPage, entry: MappingEntry): WrittenComponent {
  const what = `The component ${entry.key}`;
  const alternatives = new Map<string, ComponentPath>();
  const fields = new Map<string, MappingEntry>();
  for (const each of page.entries(entry.value, what)) {
    if (COMPONENT_KEYS.includes(each.key)) fields.set(each.key, each);
    else if (isAlternative(page, each.value)) addAlternative(page, alternatives, each);
    else page.unknownKey(each, what, COMPONENT_KEYS);
  }
  const annotation = fields.get("annotation");
  const query = readQuery(page, entry, fields);
  if (annotation === undefined && query === null && alternatives.size === 0) {
    page.problem(entry.keyNode, `${what} has no annotation: list its paths.`);
  }
  const paths =
    annotation === undefined ? [] : page.items(annotation.value).map((node) => readPath(page, node));
  const rep = fields.get("Rep") ?? fields.get("rep");
  return {
    entry,
    paths: paths.filter((path) => path !== null),
    rep: rep === undefined ? undefined : page.yesOrNo(rep.value, "Rep"),
    alternatives,
    use: fields.get("use"),
    coordination: readOverride(page, fields.get("coordination")),
    query,
    runs: query === null ? readRuns(page, fields.get("runs")) : query.runs,
  };
}

export function addAlternative(
  page: YamlPage,
  alternatives: Map<string, ComponentPath>,
  { key, value }: MappingEntry,
): void {
  const path = readPath(page, value);
  if (path !== null) alternatives.set(key, path);
}

/** With the alternative that was chosen, or with all of them: the label is then that of the worst. */
export function toComponent(
  page: YamlPage,
  written: WrittenComponent,
  derived: readonly ComponentPath[],
): Component {
  const { entry, paths, rep, alternatives, use, coordination, runs } = written;
  if (use !== undefined && alternatives.size === 0) {
    page.problem(use.keyNode, `use names an alternative path, and ${entry.key} has none: leave it out.`);
  }
  const known = [...alternatives.keys()];
  const name = use === undefined || known.length === 0 ? null : page.oneOf(use.value, "use", known);
  const chosen = name === null ? undefined : alternatives.get(name);
  const added = chosen === undefined ? [...alternatives.values()] : [chosen];
  return {
    name: entry.key,
    paths: [...paths, ...added, ...derived],
    ...(rep === undefined ? {} : { rep }),
    ...(coordination === null ? {} : { coordination }),
    ...(runs === null ? {} : { runs }),
    position: page.positionOf(entry.keyNode),
  };
}

/** `runs: ./report.ts`, or a query: `runs: { sql, tables, to }`. */
function readRuns(page: YamlPage, entry: MappingEntry | undefined): Runs | null {
  if (entry === undefined) return null;
  if (!page.isMapping(entry.value)) {
    const module = page.word(entry.value, "runs");
    return module === null ? null : { module };
  }
  return readQuery(page, entry, page.fields(entry.value, "runs", QUERY_KEYS))?.runs ?? null;
}

function readOverride(page: YamlPage, entry: MappingEntry | undefined): Override | null {
  if (entry === undefined) return null;
  const fields = page.fields(entry.value, "coordination", ["kind", "reason"]);
  const [kind, reason] = [fields.get("kind"), fields.get("reason")];
  if (kind === undefined || reason === undefined) {
    return page.problem(entry.value, 'coordination needs a "kind" and a written "reason".');
  }
  const [chosen, why] = [page.oneOf(kind.value, "kind", COORDINATIONS), page.word(reason.value, "reason")];
  if (chosen === null || why === null) return null;
  return { kind: chosen, reason: why, position: page.positionOf(entry.keyNode) };
}

function readPath(page: YamlPage, node: Node): ComponentPath | null {
  const fields = page.fields(node, "An annotation", PATH_KEYS);
  const need = (key: string) => {
    const field = fields.get(key);
    if (field !== undefined) return field.value;
    page.problem(node, `An annotation needs "${key}".`);
    return null;
  };
  const [fromNode, toNode, labelNode] = [need("from"), need("to"), need("label")];
  if (fromNode === null || toNode === null || labelNode === null) return null;
  const from = page.word(fromNode, "from");
  const to = page.word(toNode, "to");
  const annotation = page.oneOf(labelNode, "label", KINDS);
  if (from === null || to === null || annotation === null) return null;
  const subscript = fields.get("subscript");
  if (subscript !== undefined && !isOrderSensitive(annotation)) {
    page.problem(subscript.keyNode, `${annotation} is confluent and takes no subscript.`);
  }
  const repetition = fields.get("repetition");
  const lineage = fields.get("lineage");
  const repeats = repetition && page.oneOf(repetition.value, "repetition", REPETITIONS);
  return {
    from,
    to,
    annotation,
    gate: subscript === undefined ? "*" : readGate(page, subscript.value),
    ...(repeats ? { repetition: repeats } : {}),
    ...(lineage === undefined ? {} : { lineage: readLineage(page, lineage.value) }),
    position: page.positionOf(node),
  };
}

function readGate(page: YamlPage, node: Node): Gate {
  const words = page.words(node, "A subscript") ?? [];
  return words.includes("*") || words.length === 0 ? "*" : words;
}

/** `{ out: in }` is a copy; `{ window: { from: time, order-preserving: true } }` says what else there is to know. */
function readLineage(page: YamlPage, node: Node): Lineage[] {
  return page.entries(node, "lineage").flatMap(({ key: to, value }): Lineage[] => {
    if (!page.isMapping(value)) {
      const from = page.word(value, "An attribute");
      return from === null ? [] : [{ from: [from], to, injective: true, orderPreserving: true }];
    }
    const fields = page.fields(value, "The lineage of an attribute", LINEAGE_KEYS);
    const from = page.words(fields.get("from")?.value ?? value, "from");
    const flag = (key: string) => {
      const field = fields.get(key);
      return field !== undefined && page.yesOrNo(field.value, key) === true;
    };
    return from === null
      ? []
      : [{ from, to, injective: flag("injective"), orderPreserving: flag("order-preserving") }];
  });
}

function readQuery(
  page: YamlPage,
  { key, keyNode }: MappingEntry,
  fields: ReadonlyMap<string, MappingEntry>,
): ComponentQuery | null {
  const sql = fields.get("sql");
  if (sql === undefined) {
    for (const name of QUERY_KEYS) {
      const field = fields.get(name);
      if (field !== undefined)
        page.problem(field.keyNode, `"${name}" belongs to "sql", which ${key} has not.`);
    }
    return null;
  }
  const text = page.word(sql.value, "sql");
  const tables = fields.get("tables");
  const to = fields.get("to");
  if (tables === undefined || to === undefined) {
    return page.problem(
      keyNode,
      `${key} has sql, so it also needs "tables" (the columns of each input) and "to" (the name of its output).`,
    );
  }
  const columns = page
    .entries(tables.value, "tables")
    .map(({ key: table, value }) => [table, readColumns(page, value, `The columns of ${table}`)] as const);
  const output = page.word(to.value, "to");
  const [request, open] = [fields.get("request"), fields.get("open-requests")];
  const asking = request === undefined ? null : page.word(request.value, "request");
  const stays = open === undefined ? false : page.yesOrNo(open.value, "open-requests") === true;
  if (text === null || output === null) return null;
  const runs: QueryRuns = {
    sql: text,
    tables: Object.fromEntries(columns.map(([table, { names }]) => [table, names])),
    types: Object.fromEntries(columns.map(([table, { types }]) => [table, types])),
    to: output,
    ...(asking === null ? {} : { request: asking }),
    ...(stays ? { openRequests: true } : {}),
  };
  return { node: sql.value, runs };
}

/** `[id, name]`, or with types: `{ id: int, name: text }`. */
export function readColumns(
  page: YamlPage,
  node: Node,
  what: string,
): { readonly names: readonly string[]; readonly types: ColumnTypes } {
  if (!page.isMapping(node)) return { names: page.words(node, what) ?? [], types: {} };
  const types: Record<string, AttributeType> = {};
  const entries = page.entries(node, what);
  for (const { key, value } of entries) {
    const written = page.oneOf(value, `The type of ${key}`, TYPE_NAMES);
    const type = written === null ? null : columnType(written);
    if (type !== null) types[key] = type;
  }
  return { names: entries.map(({ key }) => key), types };
}
