import type { Type, ValueType } from "../plan/index.js";

/** PostgreSQL's names for types, as casts write them, by the types of the engine. */
const TYPES: Readonly<Record<string, ValueType>> = {
  ...named("int", "int2 int4 int8"),
  ...named("float", "float4 float8"),
  ...named("numeric", "numeric"),
  ...named("text", "text varchar bpchar"),
  ...named("bool", "bool"),
  ...named("timestamp", "timestamp timestamptz date"),
  ...named("json", "json jsonb"),
};

function named(type: ValueType, names: string): Record<string, ValueType> {
  return Object.fromEntries(names.split(" ").map((name) => [name, type]));
}

export function typeNamed(name: string): ValueType | null {
  return Object.hasOwn(TYPES, name) ? (TYPES[name] ?? null) : null;
}

/** The digits behind the point that a quotient or an average of exact numbers keeps. */
export const QUOTIENT_SCALE = 16;

const NUMBERS: readonly ValueType[] = ["int", "numeric", "float"];

export function isNumber(type: ValueType): boolean {
  return NUMBERS.includes(type);
}

/** The type that values of two types are brought to, to be compared or to be one column; `null` if there is none. */
export function common(
  a: Pick<Type, "type" | "scale">,
  b: Pick<Type, "type" | "scale">,
): Pick<Type, "type" | "scale"> | null {
  if (a.type === b.type) return { type: a.type, scale: Math.max(a.scale, b.scale) };
  if (!isNumber(a.type) || !isNumber(b.type)) return null;
  const wider = NUMBERS.indexOf(a.type) > NUMBERS.indexOf(b.type) ? a : b;
  return { type: wider.type, scale: wider.type === "numeric" ? wider.scale : 0 };
}
