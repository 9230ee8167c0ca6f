import { compare } from "../analysis/compare.js";
import type { DataRecord } from "./component.js";

/** One text for equal data, whatever the order of keys; sets and maps have no order either. */
export function canonical(value: unknown): string {
  if (value instanceof Map) {
    const entries = [...value].map(([key, each]) => `${canonical(key)}:${canonical(each)}`);
    return `map{${entries.sort(compare).join()}}`;
  }
  if (value instanceof Set) return `set{${[...value].map(canonical).sort(compare).join()}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    const parts = entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`);
    return `{${parts.sort(compare).join()}}`;
  }
  return typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? String(value));
}

/** Records without order and repetition: what a stream contained in the end. */
export class Contents {
  readonly #records = new Map<string, DataRecord>();

  add(record: DataRecord): void {
    this.#records.set(canonical(record), record);
  }

  get records(): DataRecord[] {
    return [...this.#records].sort(([a], [b]) => compare(a, b)).map(([, record]) => record);
  }

  equals(other: Contents): boolean {
    if (this.#records.size !== other.#records.size) return false;
    for (const key of this.#records.keys()) if (!other.#records.has(key)) return false;
    return true;
  }
}

/** `{ id: 1, campaign: 0 }` */
export function showRecord(record: DataRecord): string {
  const parts = Object.entries(record).map(([key, value]) => `${key}: ${canonical(value)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}
