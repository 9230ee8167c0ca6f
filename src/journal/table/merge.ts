import { compareKeys } from "../keys.js";

/** The newest value of a key: from the log, or else as it is stored in the main table. */
export type Newest =
  | { readonly key: string; readonly newest: Uint8Array; readonly stored?: undefined }
  | { readonly key: string; readonly newest?: undefined; readonly stored: Buffer };

/**
 * What is in the main table and what is in the log, as one: both come in the order of the keys' bytes, and what is
 * in the log hides what is in the table. Null stands for a deleted key.
 */
export function* mergeNewest(
  table: Iterable<{ key: Uint8Array; value: Buffer }>,
  log: readonly (readonly [key: string, value: Uint8Array | null])[],
): Iterable<Newest> {
  let i = 0;
  for (const { key: bytes, value: stored } of table) {
    const key = Buffer.from(bytes).toString();
    let isHidden = false;
    for (let entry = log[i]; entry !== undefined; entry = log[++i]) {
      const order = compareKeys(entry[0], key);
      if (order > 0) break;
      isHidden = order === 0;
      if (entry[1] !== null) yield { key: entry[0], newest: entry[1] };
    }
    if (!isHidden) yield { key, stored };
  }
  for (const [key, newest] of log.slice(i)) {
    if (newest !== null) yield { key, newest };
  }
}
