import type { Scalar } from "../ast.js";
import type { SqlType } from "../types.js";
import { DAY_MS } from "../values/time.js";
import type { Means } from "./failure.js";

const UNITS_MS: Readonly<Record<string, number>> = {
  milliseconds: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
};

/** Functions of times, in UTC; `undefined` if there is none of the name. */
export function timeFunction(
  means: Means,
  name: string,
  operands: readonly Exclude<Scalar, null>[],
  types: readonly SqlType[],
): Scalar | undefined {
  const [first, second] = operands;
  switch (name) {
    case "date_trunc":
      return typeof second === "number"
        ? truncated(means, String(first), second, types[1] ?? "untyped")
        : null;
    case "extract":
      return typeof second === "number" ? field(means, String(first), second, types[1] ?? "untyped") : null;
    default:
      return undefined;
  }
}

function truncated(means: Means, unit: string, ms: number, type: SqlType): Scalar {
  const length = UNITS_MS[unit.toLowerCase()];
  if (type === "interval")
    return length === undefined ? means.fail("not supported") : Math.trunc(ms / length) * length + 0;
  if (length !== undefined) return Math.floor(ms / length) * length;
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  switch (unit.toLowerCase()) {
    case "week": {
      const day = Math.floor(ms / DAY_MS);
      return (day - ((((day + 3) % 7) + 7) % 7)) * DAY_MS;
    }
    case "month":
      return Date.UTC(year, month);
    case "quarter":
      return Date.UTC(year, month - (month % 3));
    case "year":
      return Date.UTC(year, 0);
    default:
      return means.fail("not supported");
  }
}

/** As PostgreSQL's numeric: seconds with six digits after the point. */
function field(means: Means, name: string, ms: number, type: SqlType): Scalar {
  const unit = name.toLowerCase();
  if (type === "untyped")
    return unit === "epoch" ? ms / 1000 : Number(field(means, unit, ms, "timestamp") ?? Number.NaN);
  if (unit === "epoch") return type === "date" ? String(ms / 1000) : seconds(ms);
  if (type === "interval") return ofInterval(means, unit, ms);
  const date = new Date(ms);
  const second = ms - Math.floor(ms / 60_000) * 60_000;
  const calendar: Readonly<Record<string, number>> = {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    quarter: Math.floor(date.getUTCMonth() / 3) + 1,
    day: date.getUTCDate(),
    dow: date.getUTCDay(),
    isodow: date.getUTCDay() || 7,
    doy: Math.floor((ms - Date.UTC(date.getUTCFullYear(), 0)) / DAY_MS) + 1,
  };
  const clock: Readonly<Record<string, string>> = {
    hour: String(date.getUTCHours()),
    minute: String(date.getUTCMinutes()),
    second: seconds(second),
    milliseconds: (Math.round(second * 1000) / 1000).toFixed(3),
  };
  const found = calendar[unit] ?? (type === "date" ? undefined : clock[unit]);
  return found === undefined ? means.fail("not supported") : String(found);
}

function ofInterval(means: Means, unit: string, ms: number): Scalar {
  const whole = (length: number, of: number) => String(Math.trunc((ms % of) / length) + 0);
  switch (unit) {
    case "hour":
      return String(Math.trunc(ms / 3_600_000) + 0);
    case "minute":
      return whole(60_000, 3_600_000);
    case "second":
      return seconds(ms % 60_000);
    default:
      return means.fail("not supported");
  }
}

function seconds(ms: number): string {
  return (Math.round(ms * 1000) / 1e6).toFixed(6);
}
