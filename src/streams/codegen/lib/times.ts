import { wholeMicros } from "../../columns/index.js";
import { RowError } from "./row-error.js";

const DAY_MS = 86_400_000;
const FIXED_MS: Readonly<Record<string, number>> = {
  millisecond: 1,
  milliseconds: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: DAY_MS,
};

/** What a date of JavaScript can hold. */
const TIME_MS_MAX = 8.64e15;

/** A time that was calculated. */
export function timestamp(ms: number): number {
  if (!(Math.abs(ms) <= TIME_MS_MAX)) throw new RowError("22008", "timestamp out of range");
  return wholeMicros(ms);
}

/** The beginning of the second, hour, month… that a time is in, in UTC. */
export function dateTrunc(unit: string, ms: number): number {
  const fixed = FIXED_MS[unit.toLowerCase()];
  if (fixed !== undefined) return Math.floor(ms / fixed) * fixed;
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  switch (unit.toLowerCase()) {
    case "week":
      return Math.floor(ms / DAY_MS) * DAY_MS - ((date.getUTCDay() + 6) % 7) * DAY_MS;
    case "month":
      return utc(year, month);
    case "quarter":
      return utc(year, month - (month % 3));
    case "year":
      return utc(year, 0);
    default:
      throw new RowError("22023", `unit ${JSON.stringify(unit)} not recognized for type timestamp`);
  }
}

/** `Date.UTC` takes years below 100 for those of the last century. */
function utc(year: number, month: number): number {
  return new Date(0).setUTCFullYear(year, month, 1);
}

export function extract(field: string, ms: number): number {
  const date = new Date(Math.floor(ms));
  const second = ((ms % 60_000) + 60_000) % 60_000;
  switch (field.toLowerCase()) {
    case "epoch":
      return ms / 1000;
    case "microseconds":
      return Math.round(second * 1000);
    case "milliseconds":
      return second;
    case "second":
      return second / 1000;
    case "minute":
      return date.getUTCMinutes();
    case "hour":
      return date.getUTCHours();
    case "day":
      return date.getUTCDate();
    case "dow":
      return date.getUTCDay();
    case "isodow":
      return ((date.getUTCDay() + 6) % 7) + 1;
    case "doy":
      return Math.floor((ms - dateTrunc("year", ms)) / DAY_MS) + 1;
    case "week":
      return isoWeek(ms);
    case "month":
      return date.getUTCMonth() + 1;
    case "quarter":
      return Math.floor(date.getUTCMonth() / 3) + 1;
    case "year":
      return date.getUTCFullYear();
    default:
      throw new RowError("22023", `unit ${JSON.stringify(field)} not recognized for type timestamp`);
  }
}

/** Weeks begin on Monday, and a week belongs to the year that its Thursday is in. */
function isoWeek(ms: number): number {
  const thursday = dateTrunc("week", ms) + 3 * DAY_MS;
  return Math.floor((thursday - dateTrunc("year", thursday)) / (7 * DAY_MS)) + 1;
}
