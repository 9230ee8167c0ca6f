import { oidOf } from "../types.js";
import { type Known, oidOfRelation, TYPES } from "./relations.js";
import { compare, refused, type SystemValue, textOf } from "./value.js";

type Called = (known: Known, args: readonly SystemValue[]) => SystemValue;

const always =
  (value: SystemValue): Called =>
  () =>
    value;
const nth = (value: SystemValue | undefined) => value ?? null;

/** The functions that clients use to find out about a database, by name. */
const FUNCTIONS: Readonly<Record<string, Called>> = {
  version: ({ about }) => about.version,
  current_database: ({ about }) => about.database,
  current_catalog: ({ about }) => about.database,
  current_user: ({ about }) => about.user,
  session_user: ({ about }) => about.user,
  user: ({ about }) => about.user,
  current_role: ({ about }) => about.user,
  current_schema: always("public"),
  current_schemas: (_, [all]) => (all === true ? ["pg_catalog", "public"] : ["public"]),
  current_setting: (_, [name]) =>
    ({ search_path: "public", server_version_num: "150000", timezone: "UTC" })[String(name).toLowerCase()] ??
    null,
  set_config: (_, [, value]) => nth(value),
  pg_backend_pid: () => process.pid,
  pg_is_in_recovery: always(false),
  pg_postmaster_start_time: always(null),
  inet_server_addr: always(null),
  inet_server_port: always(null),
  pg_encoding_to_char: always("UTF8"),
  pg_get_userbyid: ({ about }) => about.user,
  pg_table_is_visible: always(true),
  pg_type_is_visible: always(true),
  pg_function_is_visible: always(true),
  pg_relation_is_publishable: always(false),
  has_table_privilege: (_, args) => /^select$/i.test(String(args.at(-1) ?? "")),
  has_schema_privilege: (_, args) => /^usage$/i.test(String(args.at(-1) ?? "")),
  has_database_privilege: (_, args) => /^connect$/i.test(String(args.at(-1) ?? "")),
  has_column_privilege: (_, args) => /^select$/i.test(String(args.at(-1) ?? "")),
  has_any_column_privilege: (_, args) => /^select$/i.test(String(args.at(-1) ?? "")),
  obj_description: always(null),
  col_description: always(null),
  shobj_description: always(null),
  pg_get_expr: always(null),
  pg_get_serial_sequence: always(null),
  pg_total_relation_size: always(0),
  pg_relation_size: always(0),
  pg_table_size: always(0),
  pg_size_pretty: (_, [bytes]) => `${textOf(nth(bytes)) ?? 0} bytes`,
  format_type: (_, [oid]) => typeName(nth(oid)),
  pg_get_viewdef: ({ relations }, [oid]) =>
    relations.find(({ name }) => isRelation(relations, name, nth(oid)))?.definition ?? null,
  pg_get_indexdef: (known, [oid, column]) => indexDefinition(known, Number(oid), Number(column ?? 0)),
  pg_get_constraintdef: (known, [oid]) => {
    const columns = keyOf(known, Number(oid));
    return columns === null ? null : `PRIMARY KEY (${columns.join(", ")})`;
  },
  to_regclass: ({ relations }, [name]) => regclass(relations, String(name)),
  quote_ident: (_, [name]) => {
    const text = textOf(nth(name));
    return text === null || /^[a-z_][a-z0-9_]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
  },
  array_to_string: (_, [list, separator]) =>
    Array.isArray(list)
      ? list
          .map((each) => textOf(each as SystemValue))
          .filter((each) => each !== null)
          .join(String(separator))
      : null,
  array_upper: (_, [list]) => (Array.isArray(list) && list.length > 0 ? list.length : null),
  array_lower: (_, [list]) => (Array.isArray(list) && list.length > 0 ? 1 : null),
  string_to_array: (_, [text, separator]) => textOf(nth(text))?.split(String(separator)) ?? null,
  array_length: (_, [list]) => (Array.isArray(list) && list.length > 0 ? list.length : null),
  array_position: (_, [list, value]) => {
    const at = Array.isArray(list)
      ? list.findIndex((each) => compare(each as SystemValue, nth(value)) === 0)
      : -1;
    return at < 0 ? null : at + 1;
  },
  lower: (_, [text]) => textOf(nth(text))?.toLowerCase() ?? null,
  upper: (_, [text]) => textOf(nth(text))?.toUpperCase() ?? null,
  length: (_, [text]) => textOf(nth(text))?.length ?? null,
  concat: (_, args) => args.map((each) => textOf(each) ?? "").join(""),
  btrim: (_, [text]) => textOf(nth(text))?.trim() ?? null,
  replace: (_, [text, from, to]) => textOf(nth(text))?.replaceAll(String(from), String(to)) ?? null,
};

export function isKnownFunction(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name);
}

export function call(name: string, known: Known, args: readonly SystemValue[]): SystemValue {
  const called = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (called === undefined) throw refused(`The function ${name}()`);
  return called(known, args);
}

/** A cast to a type of which the system catalog has names and numbers. */
export function cast(value: SystemValue, type: string, { relations }: Known): SystemValue {
  if (value === null) return null;
  switch (type) {
    case "regclass":
      if (typeof value === "number" || /^\d+$/.test(String(value)))
        return relations.find(({ name }) => isRelation(relations, name, value))?.name ?? textOf(value);
      return regclass(relations, String(value));
    case "regtype":
      return typeof value === "number" ? typeName(value) : value;
    case "regnamespace":
    case "regproc":
    case "regrole":
      return value;
    case "oid":
    case "int2":
    case "int4":
    case "int8":
      return typeof value === "object" ? value : Number(value);
    case "bool":
      return typeof value === "string" ? /^(t|true|on|1|yes)$/i.test(value) : Boolean(value);
    case "text":
    case "name":
    case "varchar":
      return typeof value === "boolean" ? String(value) : typeof value === "object" ? value : textOf(value);
    default:
      return value;
  }
}

function regclass(relations: Known["relations"], written: string): number | null {
  const name = written
    .replace(/^(?:"?public"?\.)/, "")
    .replace(/^"(.*)"$/, "$1")
    .replaceAll('""', '"');
  return oidOfRelation(relations, name);
}

function isRelation(relations: Known["relations"], name: string, oid: SystemValue): boolean {
  return oidOfRelation(relations, name) === Number(oid);
}

function typeName(oid: SystemValue): string | null {
  return TYPES.find(([type]) => oidOf(type) === Number(oid))?.[1] ?? (oid === null ? null : "-");
}

function keyOf({ relations }: Known, indexOid: number): readonly string[] | null {
  const relation = relations.find(({ name }) => oidOfRelation(relations, name) === indexOid - 1);
  return relation === undefined ? null : relation.key.map((at) => relation.columns[at]?.name ?? "");
}

function indexDefinition(known: Known, oid: number, column: number): string | null {
  const columns = keyOf(known, oid);
  const name = known.relations.find((each) => oidOfRelation(known.relations, each.name) === oid - 1)?.name;
  if (columns === null || name === undefined) return null;
  return column > 0
    ? (columns[column - 1] ?? "")
    : `CREATE UNIQUE INDEX ${name}_pkey ON public.${name} USING btree (${columns.join(", ")})`;
}
