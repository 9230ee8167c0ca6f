import type { Write } from "../../journal/journal.js";
import type { TrackedKey, TrackedKind } from "../../model/collections.js";
import type { State } from "../../state/fields.js";
import { entriesOf } from "../../state/tracked-content.js";
import { type Gathered, gathered } from "../../state/tracked-gathered.js";
import type { Version } from "../../state/tracked-version.js";
import { versionOf } from "./class-versions.js";
import type { Slot } from "./slot.js";
import { keptEntry, readMain, writtenEntry } from "./stored-form.js";
import { entryOf, isHashed, ownedEntryOf, prefixIn } from "./stored-keys.js";
import { partsOf, prefixOf, type StoredParts, stateOf } from "./stored-state.js";

/** Shorter entries are read when they come: what would stand for them takes as much room. */
export const UNREAD_BYTES_MIN = 200;

/** A tracked field whose entries are put together as they come. */
class Field {
  readonly #collection: Gathered;
  /** The entries that cannot be told from their keys. */
  readonly #hashed = new Map<string, TrackedKey>();

  constructor(
    readonly prefix: string,
    readonly kind: TrackedKind,
    readonly unreadBytes: number,
  ) {
    this.#collection = gathered(kind);
  }

  put(key: string, value: Uint8Array | null): void {
    const { prefix, kind } = this;
    if (value !== null) {
      const content = keptEntry(kind, prefix, key, value, this.unreadBytes);
      if (isHashed(prefix, key)) this.#hashed.set(key, content.key);
      this.#collection.put(content);
      return;
    }
    const entry = this.#entryOf(key);
    if (entry !== undefined) this.#collection.delete(entry);
  }

  #entryOf(key: string): TrackedKey | undefined {
    if (this.kind === "owned") return ownedEntryOf(this.prefix, key);
    return isHashed(this.prefix, key) ? this.#hashed.get(key) : entryOf(this.prefix, key);
  }

  version(): Version {
    return this.#collection.version();
  }
}

/**
 * The state of a context that comes in pieces, as a journal would have it. Tracked collections are put together as
 * their entries come, so that little is left to do when the context is needed.
 */
export class Staged {
  readonly #slot: Slot;
  readonly #unreadBytes: number;
  #main: Uint8Array | null = null;
  /** By what their keys begin with. */
  #fields: ReadonlyMap<string, Field> = new Map();
  #last: Field | null = null;
  /** Everything else under keys of its own. */
  readonly #rest = new Map<string, Uint8Array>();

  constructor(slot: Slot, unreadBytes = UNREAD_BYTES_MIN) {
    this.#slot = slot;
    this.#unreadBytes = unreadBytes;
  }

  /** The value may be kept: its bytes must not change any more. */
  put({ key, value }: Write): void {
    const { key: mainKey, name } = this.#slot.stored;
    if (key === mainKey) return this.#putMain(value);
    const isLast = this.#last !== null && key.startsWith(this.#last.prefix); // most come in a row
    const field = isLast ? this.#last : this.#fields.get(prefixIn(key, name));
    if (field && key !== field.prefix) {
      this.#last = field;
      field.put(key, value);
    } else if (value === null) this.#rest.delete(key);
    else this.#rest.set(key, value);
  }

  #putMain(main: Uint8Array | null): void {
    this.#main = main;
    const fields = new Map<string, Field>();
    const { version, names, apart } = main === null ? NOTHING : readMain(main);
    // What an older class has written is kept as it is: the present one has other fields.
    if (version === versionOf(this.#slot.shape.cls)) {
      for (const [index, kind] of apart) {
        if (kind === "plain") continue;
        const prefix = prefixOf(this.#slot.stored.name, names[index]);
        fields.set(
          prefix,
          this.#fields.get(prefix) ?? this.#gather(new Field(prefix, kind, this.#unreadBytes)),
        );
      }
    }
    this.#fields = fields;
    this.#last = null;
  }

  /** Takes what has come already of a field that was not known. */
  #gather(field: Field): Field {
    const { prefix } = field;
    for (const [key, bytes] of this.#rest) {
      if (!key.startsWith(prefix) || key === prefix) continue;
      field.put(key, bytes);
      this.#rest.delete(key);
    }
    return field;
  }

  state(): State | null {
    return this.#main === null ? null : stateOf(this.#slot, this.#main, () => this.#parts());
  }

  #parts(): StoredParts {
    const { name } = this.#slot.stored;
    const rest = partsOf(name, this.#rest);
    const versions = new Map<string, Version>();
    const all = () => {
      const found = rest.all();
      for (const [prefix, version] of versions) {
        for (const entry of entriesOf(version)) {
          const { key, value } = writtenEntry(version.kind, prefix, entry);
          found.set(key, value);
        }
      }
      return found;
    };
    return {
      all,
      plain: (prefix) => this.#rest.get(prefix),
      version: (kind, prefix) => {
        const field = this.#fields.get(prefix);
        if (field === undefined) return rest.version(kind, prefix);
        const version = field.version();
        versions.set(prefix, version);
        return version;
      },
    };
  }
}

const NOTHING: Pick<ReturnType<typeof readMain>, "version" | "names" | "apart"> = {
  version: 0,
  names: [],
  apart: [],
};
