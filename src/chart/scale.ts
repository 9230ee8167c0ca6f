/** From values to places on paper, with round numbers to write along it. */
export interface AxisScale {
  readonly ticks: readonly number[];
  at(value: number): number;
  /** Can the value be shown? */
  has(value: number): boolean;
}

interface Wanted {
  readonly log?: boolean;
  readonly min?: number;
  readonly max?: number;
}

const TICKS = 6;

export function scaleFor(
  { log = false, min, max }: Wanted,
  values: readonly number[],
  from: number,
  to: number,
): AxisScale {
  const shown = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  const low = min ?? Math.min(...shown, ...(shown.length === 0 ? [log ? 1 : 0] : []));
  const high = max ?? Math.max(...shown, ...(shown.length === 0 ? [log ? 10 : 1] : []));
  return log ? logarithmic(low, high, from, to) : linear(Math.min(low, min ?? 0), high, from, to);
}

function linear(low: number, high: number, from: number, to: number): AxisScale {
  const step = roundStep((high - low || 1) / TICKS);
  const end = Math.max(Math.ceil(high / step) * step, low + step);
  const first = Math.ceil(low / step) * step;
  const ticks = Array.from({ length: Math.floor((end - first) / step + 1.5) }, (_, i) => first + i * step);
  return {
    ticks: ticks.filter((tick) => tick <= end + step / 2),
    at: (value) => from + ((value - low) / (end - low)) * (to - from),
    has: Number.isFinite,
  };
}

/** Between powers of ten, or of two where there are few of those. */
function logarithmic(low: number, high: number, from: number, to: number): AxisScale {
  const base = high / low > 200 ? 10 : 2;
  const exponent = (value: number) => Math.log(value) / Math.log(base);
  const first = Math.floor(exponent(low) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(exponent(high) - 1e-9));
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, i) => base ** (first + i)),
    at: (value) => from + ((exponent(value) - first) / (last - first)) * (to - from),
    has: (value) => Number.isFinite(value) && value > 0,
  };
}

/** 1, 2 or 5 times a power of ten, at least as large. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5].find((each) => each * power >= step * 0.999) ?? 10) * power;
}

/** `1.5M`, `20k`, `0.01`. */
export function formatted(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9) return `${short(value / 1e9)}G`;
  if (size >= 1e6) return `${short(value / 1e6)}M`;
  if (size >= 1e4) return `${short(value / 1e3)}k`;
  return short(value);
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
