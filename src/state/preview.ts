import { entriesOf } from "./tracked-content.js";
import { Version } from "./tracked-version.js";

/**
 * Values of programs as JSON. What JSON has no word for is an object with one field whose name begins with "$", as in the
 * API (docs/server.md). A preview has a budget in bytes: where it ends, `{ "$cut": N }` says how many items are left out.
 */

/** Counts what a preview takes. It goes below zero by at most one string or number. */
export class PreviewBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** As much of a text as there is room for. */
  text(text: string): string {
    const taken = text.length > this.#left ? `${text.slice(0, Math.max(0, this.#left))}…` : text;
    this.spend(taken.length);
    return taken;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}

/** About what a number, a pair of brackets or a comma takes. */
const SMALL_BYTES = 8;
const UNLIMITED = new PreviewBudget(Number.POSITIVE_INFINITY);

export function preview(value: unknown, budget: PreviewBudget = UNLIMITED): unknown {
  budget.spend(SMALL_BYTES);
  switch (typeof value) {
    case "undefined":
      return { $undefined: true };
    case "bigint":
      return { $bigint: budget.text(String(value)) };
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $number: Object.is(value, -0) ? "-0" : String(value) };
    case "string":
      return budget.text(value);
    case "object":
      return value === null ? null : previewObject(value, budget);
    default:
      return value;
  }
}

function previewObject(value: object, budget: PreviewBudget): unknown {
  if (Array.isArray(value)) return previewItems(value, value.length, budget, preview);
  if (value instanceof Map)
    return { $map: previewItems(value, value.size, budget, (pair) => previewPair(pair, budget)) };
  if (value instanceof Set) return { $set: previewItems(value, value.size, budget, preview) };
  if (value instanceof Version) return previewVersion(value, budget);
  if (value instanceof Date) return { $date: Number.isNaN(+value) ? "invalid" : value.toISOString() };
  if (value instanceof ArrayBuffer) return { $typed: ["ArrayBuffer", previewBytes(value, budget)] };
  if (ArrayBuffer.isView(value)) {
    const bytes = previewBytes(value, budget);
    return value instanceof Uint8Array ? bytes : { $typed: [value.constructor.name, bytes] };
  }
  if (value instanceof Error) {
    const { name, message } = value;
    return { $error: { name, message: budget.text(message), fields: previewFields(value, budget) } };
  }
  const fields = previewFields(value, budget);
  const [first, second] = Object.keys(fields);
  return first?.startsWith("$") && second === undefined ? { $plain: fields } : fields;
}

function previewBytes(value: ArrayBuffer | ArrayBufferView, budget: PreviewBudget): unknown {
  const bytes = ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : Buffer.from(value);
  return { $bytes: budget.text(bytes.toString("base64")) };
}

function previewVersion(version: Version, budget: PreviewBudget): unknown {
  const { kind, size } = version;
  if (kind === "owned") return { $owned: size };
  const entries = entriesOf(version);
  if (kind === "map") {
    return {
      $map: previewItems(entries, size, budget, ({ key, value }) => previewPair([key, value], budget)),
    };
  }
  if (kind === "set") return { $set: previewItems(entries, size, budget, ({ key }) => preview(key, budget)) };
  return previewItems(entries, size, budget, ({ value }) => preview(value, budget));
}

function previewPair([key, value]: readonly [unknown, unknown], budget: PreviewBudget): unknown {
  return [preview(key, budget), preview(value, budget)];
}

function previewItems<T>(
  items: Iterable<T>,
  count: number,
  budget: PreviewBudget,
  each: (item: T, budget: PreviewBudget) => unknown,
): unknown[] {
  const shown: unknown[] = [];
  for (const item of items) {
    if (budget.isSpent) {
      shown.push({ $cut: count - shown.length });
      break;
    }
    shown.push(each(item, budget));
  }
  return shown;
}

function previewFields(value: object, budget: PreviewBudget): object {
  const fields: [string, unknown][] = [];
  const all = Object.entries(value);
  for (const [name, item] of all) {
    if (budget.isSpent) {
      fields.push(["$cut", all.length - fields.length]);
      break;
    }
    fields.push([budget.text(name), preview(item, budget)]);
  }
  return Object.fromEntries(fields);
}
