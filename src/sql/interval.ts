const SECOND = 1000;
const UNITS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: SECOND,
  minute: 60 * SECOND,
  hour: 3600 * SECOND,
  day: 24 * 3600 * SECOND,
  week: 7 * 24 * 3600 * SECOND,
};
const SHORT: Readonly<Record<string, string>> = {
  ms: "millisecond",
  s: "second",
  sec: "second",
  secs: "second",
  m: "minute",
  min: "minute",
  mins: "minute",
  h: "hour",
  d: "day",
};

/** PostgreSQL writes the word after `INTERVAL '1'` as a bit. */
const FIELDS: Readonly<Record<number, string>> = { 8: "day", 1024: "hour", 2048: "minute", 4096: "second" };

/** `'1 hour 30 minutes'`, or `'1'` with its unit behind it. `null`: no length that is always the same. */
export function intervalMs(text: string, field?: number): number | null {
  const bare = Number(text.trim());
  if (text.trim() !== "" && !Number.isNaN(bare)) {
    const unit = UNITS[field === undefined ? "second" : (FIELDS[field] ?? "")];
    return unit === undefined ? null : bare * unit;
  }
  if (!/^\s*(\d+(\.\d+)?\s*[a-z]+\s*)+$/i.test(text)) return null;
  let sum = 0;
  for (const [, amount, word] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const name = (word ?? "").toLowerCase();
    const unit = UNITS[SHORT[name] ?? name.replace(/s$/, "")];
    if (unit === undefined) return null;
    sum += Number(amount) * unit;
  }
  return sum;
}
