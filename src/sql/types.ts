/** The types of SQL that Headwater knows, by PostgreSQL's own names for them, and the order among them. */

export const SCALAR_TYPES = [
  "bool",
  "int2",
  "int4",
  "int8",
  "numeric",
  "float4",
  "float8",
  "text",
  "uuid",
  "date",
  "timestamp",
  "timestamptz",
  "interval",
  "json",
  "jsonb",
] as const;

export type ScalarType = (typeof SCALAR_TYPES)[number];

export type ArrayType = `${ScalarType}[]`;

/**
 * The type of an expression or a column. `untyped` is a column whose type is not declared, and what is made of it: nothing
 * about it is refused. It occurs only in plans over tables without types.
 */
export type SqlType = ScalarType | ArrayType | "untyped";

/** While a query is resolved: a literal in quotes, NULL or a parameter takes the type that its surroundings ask for. */
export type OpenType = SqlType | "unknown";

/** The names that people use for types, and how PostgreSQL's parser spells them. */
const NAMES: Readonly<Record<string, ScalarType>> = {
  ...Object.fromEntries(SCALAR_TYPES.map((type) => [type, type])),
  boolean: "bool",
  smallint: "int2",
  int: "int4",
  integer: "int4",
  bigint: "int8",
  decimal: "numeric",
  number: "numeric",
  real: "float4",
  float: "float8",
  double: "float8",
  varchar: "text",
  bpchar: "text",
  char: "text",
  string: "text",
  timestamp_ltz: "timestamptz",
};

export const TYPE_NAMES: readonly string[] = Object.keys(NAMES);

export function scalarType(name: string): ScalarType | null {
  return Object.hasOwn(NAMES, name) ? (NAMES[name] ?? null) : null;
}

export function arrayOf(type: ScalarType): ArrayType {
  return `${type}[]`;
}

/** What the elements of an array are; `null` if it is none. */
export function elementOf(type: OpenType): ScalarType | null {
  return type.endsWith("[]") ? scalarType(type.slice(0, -2)) : null;
}

/** PostgreSQL's categories: among the types of one, values are converted without being asked. */
export type Category = "boolean" | "number" | "text" | "time" | "interval" | "array" | "other" | "unknown";

const CATEGORIES: Readonly<Record<ScalarType, Category>> = {
  bool: "boolean",
  int2: "number",
  int4: "number",
  int8: "number",
  numeric: "number",
  float4: "number",
  float8: "number",
  text: "text",
  uuid: "other",
  date: "time",
  timestamp: "time",
  timestamptz: "time",
  interval: "interval",
  json: "other",
  jsonb: "other",
};

export function categoryOf(type: OpenType): Category {
  if (type === "unknown" || type === "untyped") return "unknown";
  if (elementOf(type) !== null) return "array";
  return CATEGORIES[type as ScalarType];
}

/** The type that PostgreSQL prefers within its category. */
const PREFERRED: ReadonlySet<OpenType> = new Set(["bool", "float8", "text", "timestamptz", "interval"]);

export function isPreferred(type: OpenType): boolean {
  return PREFERRED.has(type);
}

/** What a type is to people. */
export function showType(type: OpenType): string {
  const names: Readonly<Record<string, string>> = {
    bool: "boolean",
    int2: "smallint",
    int4: "integer",
    int8: "bigint",
    float4: "real",
    float8: "double precision",
    unknown: "a literal",
  };
  return names[type] ?? type;
}
