import { DAY_MS, toMicros } from "../values/time.js";
import { builtins, RowError } from "./builtin.js";

/** What the engine has no arithmetic for: dates, which are their midnights, and lengths of time that are scaled. */
export const TIME_BUILTINS = builtins({
  "+ : date int4 -> date": (date: number, days: number) => inRange(date + days * DAY_MS),
  "- : date int4 -> date": (date: number, days: number) => inRange(date - days * DAY_MS),
  "+ : int4 date -> date": (days: number, date: number) => inRange(date + days * DAY_MS),
  "- : date date -> int4": (a: number, b: number) => (a - b) / DAY_MS,
  "+ : date interval -> timestamp": (date: number, length: number) => inRange(date + length),
  "- : date interval -> timestamp": (date: number, length: number) => inRange(date - length),
  "+ : interval date -> timestamp": (length: number, date: number) => inRange(date + length),
  "* : interval float8 -> interval": (length: number, by: number) => inRange(length * by),
  "* : float8 interval -> interval": (by: number, length: number) => inRange(length * by),
  "/ : interval float8 -> interval": (length: number, by: number) => {
    if (by === 0) throw new RowError("22012", "division by zero");
    return inRange(length / by);
  },
  "to_char : timestamp text -> text": written,
  "to_char : timestamptz text -> text": written,
  ":epoch : interval -> float8": (length: number) => length / 1000,
  "date_bin : interval timestamp timestamp -> timestamp": binned,
  "date_bin : interval timestamptz timestamptz -> timestamptz": binned,
  "make_date : int4 int4 int4 -> date": (year: number, month: number, day: number) =>
    midnight(year, month, day),
  "make_timestamp : int4 int4 int4 int4 int4 float8 -> timestamp": (
    ...[year, month, day, hour, minute, second]: [number, number, number, number, number, number]
  ) => {
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second >= 60)
      throw new RowError("22008", "time field value out of range");
    return toMicros(midnight(year, month, day) + (hour * 60 + minute) * 60_000 + second * 1000);
  },
  "to_timestamp : float8 -> timestamptz": (seconds: number) => {
    return inRange(seconds * 1000);
  },
  "timezone : text timestamptz -> timestamp": inUtc,
  "timezone : text timestamp -> timestamptz": inUtc,
});

/** What a date of JavaScript can hold, in whole microseconds. */
function inRange(ms: number): number {
  if (!(Math.abs(ms) <= 8.64e15)) throw new RowError("22008", "timestamp out of range");
  return toMicros(ms);
}

/** The beginning of the span of this length that a time is in; spans begin at the origin. */
function binned(lengthMs: number, timeMs: number, originMs: number): number {
  if (lengthMs <= 0) throw new RowError("22008", "stride must be greater than zero");
  return originMs + Math.floor((timeMs - originMs) / lengthMs) * lengthMs;
}

function midnight(year: number, month: number, day: number): number {
  const time = new Date(0).setUTCFullYear(year, month - 1, day);
  const date = new Date(time);
  if (year < 1 || year > 9999 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    throw new RowError("22008", `date field value out of range: ${year}-${month}-${day}`);
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/** Times are in UTC here. */
function inUtc(zone: string, timeMs: number): number {
  if (!/^(utc|gmt|z|zulu|etc\/utc)$/i.test(zone))
    throw new RowError(
      "22023",
      `time zone ${JSON.stringify(zone.slice(0, 60))} is not supported: times are in UTC`,
    );
  return timeMs;
}

/** The patterns of `to_char` that are numbers. */
const PARTS: Readonly<Record<string, (date: Date, micros: number) => string>> = {
  YYYY: (date) => padded(date.getUTCFullYear(), 4),
  YY: (date) => padded(date.getUTCFullYear() % 100, 2),
  MM: (date) => padded(date.getUTCMonth() + 1, 2),
  DD: (date) => padded(date.getUTCDate(), 2),
  HH24: (date) => padded(date.getUTCHours(), 2),
  HH12: (date) => padded(date.getUTCHours() % 12 || 12, 2),
  HH: (date) => padded(date.getUTCHours() % 12 || 12, 2),
  MI: (date) => padded(date.getUTCMinutes(), 2),
  SS: (date) => padded(date.getUTCSeconds(), 2),
  MS: (date) => padded(date.getUTCMilliseconds(), 3),
  US: (date, micros) => padded(date.getUTCMilliseconds(), 3) + padded(micros, 3),
};

type Part = string | ((date: Date, micros: number) => string);

const FORMATS_MAX = 200;
const formats = new Map<string, readonly Part[]>();

/** A pattern as its parts, which are found once. */
function formatOf(pattern: string): readonly Part[] {
  const known = formats.get(pattern);
  if (known !== undefined) return known;
  const parts: Part[] = [];
  for (const [piece, quoted] of pattern.matchAll(
    /"([^"]*)"|YYYY|YY|HH24|HH12|HH|MM|DD|MI|SS|MS|US|[\s\S]/g,
  )) {
    if (quoted === undefined && PARTS[piece] === undefined && /[a-z"]/i.test(piece))
      throw new RowError(
        "0A000",
        `the pattern ${JSON.stringify(pattern.slice(0, 60))} has parts that to_char() does not have here`,
      );
    parts.push(quoted ?? PARTS[piece] ?? piece);
  }
  if (formats.size >= FORMATS_MAX) formats.clear();
  formats.set(pattern, parts);
  return parts;
}

function written(timeMs: number, pattern: string): string {
  const whole = Math.floor(timeMs);
  const date = new Date(whole);
  const micros = Math.round((timeMs - whole) * 1000);
  let text = "";
  for (const part of formatOf(pattern)) text += typeof part === "string" ? part : part(date, micros);
  return text;
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, "0");
}
