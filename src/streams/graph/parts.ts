/** A named part of a checkpoint; `null` deletes the part. */
export type CheckpointPart = readonly [name: string, bytes: Uint8Array | null];

/** The parts of one stream or query, by the rest of their names. */
export type OwnParts = ReadonlyMap<string, Uint8Array>;

/** No name of a stream has it, so that a part's name says whose part it is. */
const BETWEEN = "|";

export function* named(owner: string, parts: Iterable<CheckpointPart>): Generator<CheckpointPart> {
  for (const [name, bytes] of parts) yield [`${owner}${BETWEEN}${name}`, bytes];
}

export function groupedByOwner(
  parts: Iterable<readonly [name: string, bytes: Uint8Array]>,
): ReadonlyMap<string, OwnParts> {
  const owners = new Map<string, Map<string, Uint8Array>>();
  for (const [name, bytes] of parts) {
    const at = name.indexOf(BETWEEN);
    const owner = name.slice(0, at);
    const own = owners.get(owner) ?? new Map<string, Uint8Array>();
    owners.set(owner, own);
    own.set(name.slice(at + 1), bytes);
  }
  return owners;
}

/** The parts whose names begin so, with the rest of their names. */
export function partsBelow(
  parts: OwnParts,
  prefix: string,
): readonly (readonly [name: string, bytes: Uint8Array])[] {
  return [...parts].flatMap(([name, bytes]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), bytes] as const] : [],
  );
}

export function jsonPart(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value), "utf8");
}

export function jsonOf<T>(bytes: Uint8Array | undefined): T | null {
  return bytes === undefined ? null : (JSON.parse(Buffer.from(bytes).toString("utf8")) as T);
}
