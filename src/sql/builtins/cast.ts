import { canonicalJson, jsonText } from "../values/json.js";
import { literal } from "../values/literal.js";
import { showTime } from "../values/time.js";
import { builtins, RowError } from "./builtin.js";

/** Casts between types that the engine holds in one form. SQL does not call them by these names. */
export const CAST_BUILTINS = builtins({
  ":text : date -> text": (time: number) => showTime(time, "date"),
  ":text : timestamptz -> text": (time: number) => showTime(time, "timestamptz"),
  ":date : text -> date": (text: string) => read(text, "date"),
  ":timestamptz : text -> timestamptz": (text: string) => read(text, "timestamptz"),
  ":timestamp : text -> timestamp": (text: string) => read(text, "timestamp"),
  ":uuid : text -> uuid": (text: string) => read(text, "uuid"),
  ":json : text -> json": (text: string) => jsonOf(text, "json"),
  ":jsonb : text -> jsonb": (text: string) => jsonOf(text, "jsonb"),
  ":jsonb : json -> jsonb": (text: string) => canonicalJson(JSON.parse(text)),
  ":bool : jsonb -> bool": (text: string) => {
    if (text !== "true" && text !== "false")
      throw new RowError("22023", `cannot cast jsonb ${kind(text)} to type boolean`);
    return text === "true";
  },
  /** A decimal as a text. */
  ":number : jsonb -> text": (text: string) => {
    if (!/^-?\d/.test(text)) throw new RowError("22023", `cannot cast jsonb ${kind(text)} to a number`);
    return text;
  },
});

function read<T extends number | string>(
  text: string,
  type: "date" | "timestamp" | "timestamptz" | "uuid",
): T {
  const value = literal(text, type);
  if (value === undefined)
    throw new RowError(
      "22P02",
      `invalid input syntax for type ${type}: ${JSON.stringify(text.slice(0, 60))}`,
    );
  return value as T;
}

function jsonOf(text: string, type: "json" | "jsonb"): string {
  const value = jsonText(text, type);
  if (value === undefined)
    throw new RowError("22P02", `invalid input syntax for type json: ${JSON.stringify(text.slice(0, 60))}`);
  return value;
}

function kind(json: string): string {
  return json === "null"
    ? "null"
    : json.startsWith('"')
      ? "string"
      : json.startsWith("[")
        ? "array"
        : json.startsWith("{")
          ? "object"
          : /^[tf]/.test(json)
            ? "boolean"
            : "number";
}
