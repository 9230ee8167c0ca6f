import { jsonText } from "../../sql/index.js";
import { type Cell, type ColumnSpec, isTimestamp, numericOf, timestampOfText } from "../columns/index.js";

/**
 * What the text of a CSV field means in a column, as PostgreSQL reads it: spaces around a value that is not text do not
 * count, and truth values have several spellings. `undefined` if the text does not fit.
 */
export function cellOfField(text: string, { type, scale }: ColumnSpec): Cell | undefined {
  switch (type) {
    case "text":
      return text;
    case "int":
      return integerOf(text.trim());
    case "float":
      return floatOf(text.trim());
    case "bool":
      return BOOLS[text.trim().toLowerCase()];
    case "timestamp": {
      // Milliseconds, as in JSON; shorter numbers could also be dates or seconds.
      const time = /^\s*\d{12,15}\s*$/.test(text) ? Number(text) : timestampOfText(text.trim());
      return isTimestamp(time) ? time : undefined;
    }
    case "numeric":
      return numericOf(text.trim(), scale) ?? undefined;
    case "json":
      return jsonText(text, "jsonb");
  }
}

const BOOLS: Readonly<Record<string, boolean>> = Object.assign(Object.create(null), {
  ...{ true: true, t: true, yes: true, y: true, on: true, 1: true },
  ...{ false: false, f: false, no: false, n: false, off: false, 0: false },
});

function integerOf(text: string): number | undefined {
  if (!/^[+-]?\d{1,400}$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value + 0 : undefined;
}

function floatOf(text: string): number | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return FLOATS[text.toLowerCase()];
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

const FLOATS: Readonly<Record<string, number>> = Object.assign(Object.create(null), {
  nan: Number.NaN,
  ...{ infinity: Number.POSITIVE_INFINITY, "+infinity": Number.POSITIVE_INFINITY },
  "-infinity": Number.NEGATIVE_INFINITY,
});
