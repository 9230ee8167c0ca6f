import type { Scalar } from "../ast.js";
import { intervalMs } from "../interval.js";
import { elementOf, type SqlType } from "../types.js";
import { decimalText } from "./decimal-text.js";
import { jsonText } from "./json.js";
import { parseTime } from "./time.js";

const LIMITS = { int2: 32_768, int4: 2_147_483_648, int8: Number.MAX_SAFE_INTEGER + 1 } as const;

/** Whether a whole number is one of an integer type. An int8 beyond 2^53 is refused, because no double holds it exactly. */
export function isInRange(value: number, type: keyof typeof LIMITS): boolean {
  const limit = LIMITS[type];
  return type === "int8" ? Math.abs(value) < limit : value >= -limit && value < limit;
}

/** The value that a text in quotes has as a type; `undefined` if it has none. */
export function literal(text: string, type: SqlType): Scalar | undefined {
  const trimmed = text.trim();
  switch (type) {
    case "text":
    case "untyped":
      return text;
    case "bool":
      return truth(trimmed.toLowerCase());
    case "int2":
    case "int4":
    case "int8": {
      const value = Number(trimmed);
      return /^[+-]?\d+$/.test(trimmed) && isInRange(value, type) ? value : undefined;
    }
    case "numeric":
      return decimalText(trimmed) ?? undefined;
    case "float4":
    case "float8":
      return float(trimmed, type);
    case "date":
    case "timestamp":
    case "timestamptz":
      return parseTime(trimmed, type) ?? undefined;
    case "interval":
      return intervalMs(trimmed) ?? undefined;
    case "json":
    case "jsonb":
      return jsonText(text, type);
    case "uuid":
      return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(trimmed) ? trimmed.toLowerCase() : undefined;
    default:
      return array(trimmed, type);
  }
}

function truth(text: string): boolean | undefined {
  if (["t", "true", "y", "yes", "on", "1"].includes(text)) return true;
  return ["f", "false", "n", "no", "off", "0"].includes(text) ? false : undefined;
}

function float(text: string, type: "float4" | "float8"): number | undefined {
  if (decimalText(text) === null) return undefined;
  return type === "float4" ? Math.fround(Number(text)) : Number(text);
}

/** `{1,2,NULL}`, without quotes inside. */
function array(text: string, type: SqlType): Scalar | undefined {
  const element = elementOf(type);
  if (element === null || !/^\{[^{}"\\]*\}$/.test(text)) return undefined;
  const inside = text.slice(1, -1).trim();
  const values = inside === "" ? [] : inside.split(",").map((each) => each.trim());
  const read = values.map((each) => (/^null$/i.test(each) ? null : literal(each, element)));
  return read.every((each) => each !== undefined) ? read : undefined;
}
