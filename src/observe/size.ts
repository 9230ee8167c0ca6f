const OBJECT_BYTES = 32;
const FIELD_BYTES = 16;
const DEPTH_MAX = 4;

/** How much memory a fact takes, about: texts are what makes the difference. Of errors, only their texts count. */
export function bytesOf(value: unknown, depth = DEPTH_MAX): number {
  if (typeof value === "string") return FIELD_BYTES + 2 * value.length;
  if (typeof value !== "object" || value === null || depth === 0) return FIELD_BYTES;
  if (value instanceof Error) return OBJECT_BYTES + textsOf(value);
  let bytes = OBJECT_BYTES;
  for (const each of Object.values(value)) bytes += bytesOf(each, depth - 1);
  return bytes;
}

/** The texts of an error may be made by code of the application, which may throw. */
function textsOf(error: Error): number {
  try {
    return 2 * (String(error.message).length + String(error.stack).length);
  } catch {
    return 0;
  }
}
