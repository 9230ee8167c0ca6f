import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import type { FieldKind, Shape } from "../../model/shape.js";
import { decode, encode } from "../../state/codec.js";
import { unreadable } from "../../state/codec-check.js";
import { type Versioned, versionOf } from "./class-versions.js";
import { shapeKey } from "./stored-keys.js";

/**
 * The journal has, for each name of a context class, the fields that the class had in the last run. A class that has
 * changed since, without saying how its old states are to be read, is refused before anything runs.
 *
 *     s/CLASS     [[version, names of fields, their kinds], …], one for each class of that name
 */
type StoredShape = readonly [version: number, fields: readonly string[], kinds: readonly FieldKind[]];

/** Throws HW-3021 if a class does not fit what the journal has of it; else returns what is to be noted of this run. */
export function checkShapes(journal: Pick<Journal, "get">, shapes: Iterable<Shape>): Write[] {
  const byName = new Map<string, Shape[]>();
  for (const shape of shapes) {
    if (!shape.anonymous) byName.set(shape.name, [...(byName.get(shape.name) ?? []), shape]);
  }
  const writes: Write[] = [];
  for (const [name, own] of byName) {
    const key = shapeKey(name);
    const before = journal.get(key);
    if (before !== undefined) checkAll(own, readShapes(before));
    const value = encode(own.map(storedShape));
    if (before === undefined || Buffer.compare(before, value) !== 0) writes.push({ key, value });
  }
  return writes;
}

function readShapes(bytes: Uint8Array): readonly StoredShape[] {
  const stored = decode(bytes);
  const isWhole = (each: unknown) => Array.isArray(each) && Array.isArray(each[1]) && Array.isArray(each[2]);
  if (!Array.isArray(stored) || !stored.every(isWhole))
    throw unreadable("the shape of a class is incomplete");
  return stored as StoredShape[];
}

function storedShape({ cls, fields, kinds }: Shape): StoredShape {
  return [versionOf(cls), fields, kinds];
}

/**
 * Several classes may have one name. Unchanged classes are left out; each of the others is
 * compared with what is left.
 */
function checkAll(shapes: readonly Shape[], stored: readonly StoredShape[]): void {
  const left = [...stored];
  const changed = shapes.filter((shape) => {
    const at = left.findIndex(
      (before) => problemOf(shape, before) === null && versionOf(shape.cls) === before[0],
    );
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  for (const shape of changed) {
    const before = left.shift();
    const problem = before === undefined ? null : problemOf(shape, before);
    if (problem !== null) throw problem;
  }
}

function problemOf(shape: Shape, [version, fields, kinds]: StoredShape): HeadwaterError | null {
  const { name, cls } = shape;
  const present = versionOf(cls);
  if (version > present) {
    return new HeadwaterError(
      "HW-3021",
      `the journal was written with version ${version} of the class ${name}, and this is version ${present}. Run the ` +
        "newer program, or go on with a copy of the journal from before it was run.",
    );
  }
  if (version < present) {
    if (typeof (cls as Versioned).upgrade === "function") return null;
    return new HeadwaterError(
      "HW-3021",
      `the journal was written with version ${version} of the class ${name}, and this is version ${present}. Add a ` +
        `\`static upgrade(fields, version)\` to ${name} that makes the new fields from the old ones.`,
    );
  }
  const gone = fields.filter((field) => !shape.fields.includes(field));
  // A field that was added begins with its initial value, unless it may be one that was renamed.
  const added = gone.length === 0 ? [] : shape.fields.filter((field) => !fields.includes(field));
  const changes = [
    ...added.map((field) => `"${field}" was added`),
    ...gone.map((field) => `"${field}" is gone`),
    ...shape.fields.flatMap((field, i) => {
      const [before, now] = [kinds[fields.indexOf(field)], shape.kinds[i]];
      if (before === undefined || now === undefined || canBecome(before, now)) return [];
      return [`"${field}" was ${shown(before)} and is ${shown(now)}`];
    }),
  ];
  if (changes.length === 0) return null;
  return new HeadwaterError(
    "HW-3021",
    `the fields of the class ${name} are not those in the journal: ${changes.join(", ")}. Give ${name} ` +
      `\`static version = ${present + 1}\` and a \`static upgrade(fields, version)\` that makes the new fields from the ` +
      "old ones.",
  );
}

const PLAIN_OF: Partial<Record<FieldKind, FieldKind>> = { map: "Map", set: "Set", list: "array" };

/** A plain Map is taken over by a tracked one, and back. What is unknown may be anything, but not tracked. */
function canBecome(before: FieldKind, now: FieldKind): boolean {
  const [plainBefore, plainNow] = [PLAIN_OF[before] ?? before, PLAIN_OF[now] ?? now];
  if (plainBefore === plainNow) return true;
  return (before === "unknown" && plainNow === now) || (now === "unknown" && plainBefore === before);
}

function shown(kind: FieldKind): string {
  if (kind === "owned") return "an owned engine";
  if (PLAIN_OF[kind] !== undefined) return `a tracked ${kind}`;
  if (kind === "simple") return "a simple value";
  return kind === "unknown" ? "null or an object" : `a plain ${kind}`;
}
