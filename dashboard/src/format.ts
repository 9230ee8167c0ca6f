/** Numbers as people read them. */

export function count(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  if (value >= 1e4) return `${(value / 1e3).toFixed(1)} k`;
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

export function ms(value: number | null): string {
  if (value === null) return "–";
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  if (value >= 10) return `${value.toFixed(0)} ms`;
  return value >= 0.1 ? `${value.toFixed(2)} ms` : `${(value * 1000).toFixed(0)} µs`;
}

export function bytes(value: number): string {
  if (value >= 2 ** 30) return `${(value / 2 ** 30).toFixed(2)} GiB`;
  if (value >= 2 ** 20) return `${(value / 2 ** 20).toFixed(1)} MiB`;
  return `${(value / 1024).toFixed(0)} KiB`;
}

export function duration(fromMs: number, toMs: number): string {
  const seconds = Math.max(0, Math.round((toMs - fromMs) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0
    ? `${hours} h ${minutes} min`
    : minutes > 0
      ? `${minutes} min ${seconds % 60} s`
      : `${seconds} s`;
}

export function clock(atMs: number): string {
  return new Date(atMs).toLocaleTimeString([], { hour12: false });
}
