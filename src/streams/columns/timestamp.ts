/**
 * Times as people write them: `2025-12-31`, `2025-12-31 23:59:59.5`, `2025-12-31T23:59:59Z`, with an offset from UTC such as
 * `+02:00` or without one, which means UTC. Nothing else is guessed at, so every reader of times in the engine agrees.
 *
 * What comes in from outside is of the years 1 to 9999, as a text or as a number, so all of it can be written and read again. What
 * queries calculate from it may lie outside, as far as a date of JavaScript goes.
 */
const DAY_MS = 86_400_000;
const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

const [FIRST_MS, LAST_MS] = [-62_135_596_800_000, 253_402_300_800_000];

/** Whether milliseconds since 1970 are a time of the years 1 to 9999. */
export function isTimestamp(ms: number): boolean {
  return ms >= FIRST_MS && ms < LAST_MS;
}

/** Milliseconds since 1970, or NaN if the bytes from `start` to `end` are not a time. */
export function timestampOf(bytes: Uint8Array, start: number, end: number): number {
  const date = dateAt(bytes, start, end);
  if (end - start === 10 || Number.isNaN(date)) return date;
  const separator = bytes[start + 10];
  if (end - start < 16 || (separator !== 0x54 && separator !== 0x20)) return Number.NaN;
  const [hour, minute] = [pair(bytes, start + 11), pair(bytes, start + 14)];
  if (hour > 23 || minute > 59 || bytes[start + 13] !== 0x3a) return Number.NaN;
  let at = start + 16;
  let second = 0;
  if (at + 3 <= end && bytes[at] === 0x3a) {
    second = pair(bytes, at + 1);
    if (second > 59) return Number.NaN;
    at += 3;
    if (bytes[at] === 0x2e && at < end) {
      let [digits, scale] = [0, 1];
      const first = ++at;
      for (; at < end && digit(bytes[at]) < 10; at++, scale *= 10) digits = digits * 10 + digit(bytes[at]);
      if (at === first || at - first > 9) return Number.NaN;
      second += digits / scale;
    }
  }
  const zone = zoneMs(bytes, at, end);
  // Seconds are rounded to microseconds first, so that equal texts of a time are equal numbers.
  const time = date + (hour * 60 + minute) * 60_000 + Math.round(second * 1e6) / 1000 - zone;
  return isTimestamp(time) ? time : Number.NaN;
}

export function timestampOfText(text: string): number {
  const bytes = Buffer.from(text, "utf8");
  return timestampOf(bytes, 0, bytes.length);
}

/** A calculated time: whole microseconds, as the double that is nearest to them, so that equal times are equal. */
export function wholeMicros(ms: number): number {
  return Number.isInteger(ms) ? ms : Math.round(ms * 1000) / 1000;
}

/** `2025-12-31 23:59:59.5`, as PostgreSQL writes a timestamp, with ` BC` before the year 1. */
export function timestampText(ms: number): string {
  const { year, day, clock } = partsOf(ms);
  return `${String(year > 0 ? year : 1 - year).padStart(4, "0")}${day} ${clock}${year > 0 ? "" : " BC"}`;
}

/** `2025-12-31T23:59:59.5Z`, as ISO 8601 and JavaScript write it: a year of more than four digits has a sign and six. */
export function isoTime(ms: number): string {
  const { year, day, clock } = partsOf(ms);
  const isShort = year >= 0 && year <= 9999;
  const digits = String(Math.abs(year)).padStart(isShort ? 4 : 6, "0");
  return `${isShort ? "" : year < 0 ? "-" : "+"}${digits}${day}T${clock}Z`;
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

function dateAt(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < 10 || bytes[start + 4] !== 0x2d || bytes[start + 7] !== 0x2d) return Number.NaN;
  const year = pair(bytes, start) * 100 + pair(bytes, start + 2);
  const [month, day] = [pair(bytes, start + 5), pair(bytes, start + 8)];
  if (!(year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1)) return Number.NaN;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const length =
    month === 2 ? (leap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  if (day > length) return Number.NaN;
  const before = year - 1;
  const leaps = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  const days =
    before * 365 + leaps + (DAYS_BEFORE[month - 1] as number) + (leap && month > 2 ? 1 : 0) + day - 1;
  return (days - 719_162) * DAY_MS;
}

function zoneMs(bytes: Uint8Array, at: number, end: number): number {
  if (at === end) return 0;
  const sign = bytes[at];
  if (sign === 0x5a || sign === 0x7a) return at + 1 === end ? 0 : Number.NaN;
  if ((sign !== 0x2b && sign !== 0x2d) || at + 3 > end) return Number.NaN;
  const colon = bytes[at + 3] === 0x3a && at + 3 < end ? 1 : 0;
  const hasMinutes = at + 3 < end;
  if (at + 3 + (hasMinutes ? 2 + colon : 0) !== end) return Number.NaN;
  const [hours, minutes] = [pair(bytes, at + 1), hasMinutes ? pair(bytes, at + 3 + colon) : 0];
  if (hours > 15 || minutes > 59) return Number.NaN;
  return (sign === 0x2d ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Two digits, or a number that no pair of digits is. */
function pair(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [digit(bytes[at]), digit(bytes[at + 1])];
  return tens > 9 || ones > 9 ? Number.MAX_SAFE_INTEGER : tens * 10 + ones;
}

function digit(byte: number | undefined): number {
  return byte === undefined || byte < 0x30 || byte > 0x39 ? 10 : byte - 0x30;
}
