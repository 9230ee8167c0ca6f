/** Times as PostgreSQL reads and writes them, in UTC: milliseconds since 1970, with microseconds as the fraction. */

export const DAY_MS = 86_400_000;

const FORM =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;

/** `null` if the text is no time of this form. */
export function parseTime(text: string, what: "date" | "timestamp" | "timestamptz"): number | null {
  const parts = FORM.exec(text.trim());
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((each) => Number(each ?? 0));
  const midnight = Date.UTC(year, month - 1, day);
  const date = new Date(midnight);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  if (what === "date") return midnight;
  const micros = Math.round(Number(`0.${parts[7] ?? "0"}`) * 1e6);
  const local = midnight + ((hour * 60 + minute) * 60 + second) * 1000 + micros / 1000;
  // A timestamp without time zone leaves out what the text says about one.
  return what === "timestamptz" ? local - zoneMs(parts[8]) : local;
}

function zoneMs(zone: string | undefined): number {
  const parts = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? "");
  if (parts === null) return 0;
  const ms = (Number(parts[2]) * 60 + Number(parts[3] ?? 0)) * 60_000;
  return parts[1] === "-" ? -ms : ms;
}

/** Whole microseconds, which is all that PostgreSQL keeps. */
export function toMicros(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** `2025-12-31 23:59:59.5`, with ` BC` before the year 1. */
export function showTime(ms: number, what: "date" | "timestamp" | "timestamptz"): string {
  const { year, day, clock } = partsOf(ms);
  const date = `${String(year > 0 ? year : 1 - year).padStart(4, "0")}${day}`;
  const zone = what === "timestamptz" ? "+00" : "";
  return `${date}${what === "date" ? "" : ` ${clock}${zone}`}${year > 0 ? "" : " BC"}`;
}

function partsOf(ms: number): { readonly year: number; readonly day: string; readonly clock: string } {
  const micros = Math.round((ms - Math.floor(ms)) * 1000);
  // A fraction that rounds to a whole millisecond is one.
  const date = new Date(Math.floor(ms) + (micros === 1000 ? 1 : 0));
  // Counted from the end, since the year has four digits or seven characters.
  const text = date.toISOString();
  const fraction = `${text.slice(-4, -1)}${String(micros % 1000).padStart(3, "0")}`.replace(/0+$/, "");
  const clock = `${text.slice(-13, -5)}${fraction === "" ? "" : `.${fraction}`}`;
  return { year: date.getUTCFullYear(), day: text.slice(-20, -14), clock };
}

/** Hours, minutes and seconds, and days in front of them. */
export function showInterval(ms: number): string {
  const negative = ms < 0;
  const micros = Math.round(Math.abs(ms) * 1000);
  const seconds = Math.floor(micros / 1e6);
  const pad = (value: number) => String(value).padStart(2, "0");
  const fraction = String(micros % 1e6)
    .padStart(6, "0")
    .replace(/0+$/, "");
  const clock = `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return `${negative ? "-" : ""}${clock}${fraction === "" ? "" : `.${fraction}`}`;
}
