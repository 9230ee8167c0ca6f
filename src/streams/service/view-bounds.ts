import { HeadwaterError } from "../../errors.js";
import { type Cell, type ColumnSpec, numericOf, type Schema, timestampOfText } from "../columns/index.js";

/** A key, or the first columns of one, from texts. `null` for no text at all: no bound. */
export function boundOf(
  texts: readonly string[],
  columns: Schema,
  key: readonly number[] | null,
): readonly Cell[] | null {
  const places = key ?? columns.map((_, i) => i);
  if (texts.length > places.length)
    throw new HeadwaterError(
      "HW-5410",
      `the key has ${places.length} columns, and ${texts.length} values were given for it.`,
    );
  return texts.length === 0
    ? null
    : texts.map((text, i) => cellOf(text, columns[places[i] ?? 0] as ColumnSpec));
}

function cellOf(text: string, { name, type, scale }: ColumnSpec): Cell {
  switch (type) {
    case "text":
    case "json":
      return text;
    case "bool":
      if (text === "true" || text === "false") return text === "true";
      break;
    case "timestamp": {
      const time = timestampOfText(text);
      if (!Number.isNaN(time)) return time;
      break;
    }
    case "numeric": {
      const value = numericOf(text, scale);
      if (value !== null) return value;
      break;
    }
    default: {
      const value = Number(text);
      if (text.trim() !== "" && (type === "int" ? Number.isSafeInteger(value) : !Number.isNaN(value)))
        return value;
    }
  }
  const shown = JSON.stringify(text.slice(0, 80));
  throw new HeadwaterError("HW-5410", `${shown} is no value of the key's column ${name}, which is ${type}.`);
}
