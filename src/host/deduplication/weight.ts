const FIXED_BYTES = 16;

/** About how many bytes of memory a plain value takes, up to a factor of two. */
export function weightOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return FIXED_BYTES + value.length;
    case "bigint":
      return FIXED_BYTES + value.toString(16).length;
    case "object":
      return value === null ? FIXED_BYTES : weightOfObject(value);
    default:
      return FIXED_BYTES;
  }
}

function weightOfObject(value: object): number {
  let bytes = 2 * FIXED_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += weightOf(item);
  } else if (value instanceof Map) {
    for (const [key, item] of value) bytes += 2 * FIXED_BYTES + weightOf(key) + weightOf(item);
  } else if (value instanceof Set) {
    for (const item of value) bytes += FIXED_BYTES + weightOf(item);
  } else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
    bytes += value.byteLength;
  } else {
    if (value instanceof Error) bytes += weightOf(value.message) + weightOf(value.stack);
    for (const name of Object.keys(value)) bytes += weightOf((value as Record<string, unknown>)[name]);
  }
  return bytes;
}
