import type { Write } from "../journal/journal.js";
import type { TrackedKind } from "../model/collections.js";
import type { State } from "../state/fields.js";
import type { Content } from "../state/tracked-content.js";
import type { Slot } from "./slot.js";
import { readEntry, readMain } from "./stored-form.js";
import { fieldPrefix, prefixIn } from "./stored-keys.js";
import { type Parts, stateOf } from "./stored-state.js";

/** A tracked field: its entries, by key. */
interface Field {
  readonly kind: TrackedKind;
  readonly entries: Map<string, Content>;
}

/**
 * The state of a context that comes in pieces, as a journal would have it. Entries of tracked collections are decoded
 * as they come, so that little is left to do when the context is needed.
 */
export class Staged implements Parts {
  readonly #slot: Slot;
  #main: Uint8Array | null = null;
  /** By what their keys begin with. */
  #fields: ReadonlyMap<string, Field> = new Map();
  readonly all = new Map<string, Uint8Array>();

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  put({ key, value }: Write): void {
    const { key: mainKey, name } = this.#slot.stored;
    if (key === mainKey) return this.#putMain(value);
    const prefix = prefixIn(key, name);
    const field = this.#fields.get(prefix);
    if (value === null) {
      this.all.delete(key);
      field?.entries.delete(key);
    } else {
      this.all.set(key, value);
      field?.entries.set(key, readEntry(field.kind, prefix, key, value));
    }
  }

  #putMain(main: Uint8Array | null): void {
    this.#main = main;
    const fields = new Map<string, Field>();
    const { names, apart } = main === null ? NOTHING : readMain(main);
    for (const [index, kind] of apart) {
      if (kind === "plain") continue;
      const prefix = fieldPrefix(this.#slot.stored.name, names[index] ?? "");
      const known = this.#fields.get(prefix);
      fields.set(prefix, known?.kind === kind ? known : { kind, entries: this.#read(kind, prefix) });
    }
    this.#fields = fields;
  }

  /** What has come already of a field that was not known, or was of another kind. */
  #read(kind: TrackedKind, prefix: string): Map<string, Content> {
    const entries = new Map<string, Content>();
    for (const [key, bytes] of this.all) {
      if (key.startsWith(prefix)) entries.set(key, readEntry(kind, prefix, key, bytes));
    }
    return entries;
  }

  plain(prefix: string): Uint8Array | undefined {
    return this.all.get(prefix);
  }

  entries(_: TrackedKind, prefix: string): readonly Content[] {
    return [...(this.#fields.get(prefix)?.entries.values() ?? [])];
  }

  state(): State | null {
    return this.#main === null ? null : stateOf(this.#slot, this.#main, () => this);
  }
}

const NOTHING: Pick<ReturnType<typeof readMain>, "names" | "apart"> = { names: [], apart: [] };
