import { fieldPrefix, ownedEntryOf, rootContextName, stepsIn } from "../host/context/index.js";
import type { KeyTable } from "../journal/journal.js";
import type { Address } from "../model/address.js";
import type { TrackedKey } from "../model/collections.js";
import { Context } from "../model/context.js";
import type { OwnedEngine } from "../model/owned.js";
import { resolvePath } from "../model/path.js";
import { inspectTree } from "../model/shape.js";
import { LiveOwned } from "../state/owned-live.js";

/** A field of a context with an engine that other processes can have copies of. */
export interface CopiedField {
  /** What its keys in the log begin with. */
  readonly prefix: string;
  /** The context, as people write it. */
  readonly context: string;
  readonly field: string;
  /** What has the same place is kept by the same members: all that is below one key of the root. */
  readonly place: string;
  make(): OwnedEngine;
}

/** Entries of owned fields are of other kinds than those of tracked collections (`host/context/stored-keys.ts`). */
const OWNED = /^d\/[^\0]*\0[^\0]*\0(?=[rpkg])/s;
/** Behind all keys with the same prefix. */
const LAST = "\u{10ffff}";

/** Finds the engines of a program by their keys in the log. */
export class CopiedFields {
  readonly #roots: readonly Address[];
  readonly #found = new Map<string, CopiedField | null>();
  /** Does the program have any? */
  readonly areThere: boolean;

  constructor(roots: Iterable<Address>) {
    this.#roots = [...roots];
    this.areThere = this.#roots.some(({ shape }) =>
      inspectTree(shape.cls).some(({ kinds }) => kinds.includes("owned")),
    );
  }

  /** The engine that a key belongs to, and what it is of it. */
  at(key: string): readonly [field: CopiedField, entry: TrackedKey] | null {
    const prefix = OWNED.exec(key)?.[0];
    const field = prefix === undefined ? null : this.#of(prefix);
    return field === null ? null : [field, ownedEntryOf(field.prefix, key)];
  }

  /** All that a table has. */
  *in(table: KeyTable): Iterable<CopiedField> {
    for (const { node } of this.#roots) {
      const all = `d/${rootContextName(node, "").split("/")[0]}/`;
      for (let after = ""; ; ) {
        const [first] = table.range(all, after);
        if (first === undefined) break;
        const [key] = first;
        const field = this.at(key)?.[0];
        if (field !== undefined) yield field;
        after = `${key.slice(0, key.indexOf("\0", key.indexOf("\0") + 1) + 1)}${LAST}`;
      }
    }
  }

  #of(prefix: string): CopiedField | null {
    let field = this.#found.get(prefix);
    if (field === undefined) {
      field = this.#find(prefix);
      this.#found.set(prefix, field);
    }
    return field;
  }

  #find(prefix: string): CopiedField | null {
    const name = prefix.slice("d/".length, prefix.indexOf("\0"));
    for (const root of this.#roots) {
      const above = rootContextName(root.node, root.shape.name);
      if (name !== above && !name.startsWith(`${above}.`)) continue;
      try {
        return fieldAt(resolvePath(root, stepsIn(name.slice(above.length))), name, prefix);
      } catch {
        return null; // the classes of this process do not have it
      }
    }
    return null;
  }
}

function fieldAt(address: Address, name: string, prefix: string): CopiedField | null {
  const field = address.shape.fields.find((each) => fieldPrefix(name, each) === prefix);
  if (field === undefined) return null;
  const live = (Context.construct(address) as unknown as Readonly<Record<string, unknown>>)[field];
  if (!(live instanceof LiveOwned) || live.make === null) return null;
  const { make } = live;
  if (make().digest === undefined) return null; // it promises nothing of copies
  return { prefix, context: String(address), field, place: placeOf(address), make };
}

/** The context with a key that is nearest to the root. */
function placeOf(address: Address): string {
  let place = address;
  for (let at: Address | null = address; at !== null; at = at.parent) if (at.key !== undefined) place = at;
  return String(place);
}
