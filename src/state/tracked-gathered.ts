import { invariant } from "../errors.js";
import type { TrackedKey, TrackedKind } from "../model/collections.js";
import { type Content, ownedVersion } from "./tracked-content.js";
import { EntryStore } from "./tracked-entries.js";
import { ItemStore } from "./tracked-items.js";
import { checkKey } from "./tracked-values.js";
import { type Store, Version } from "./tracked-version.js";

/**
 * A tracked collection whose entries come one by one, perhaps more than once, and go again, before anybody uses it.
 * Each is put where it belongs at once, so that next to nothing is left to do in the end.
 */
export interface Gathered {
  readonly kind: TrackedKind;
  /** The value is as it is kept. */
  put(content: Content): void;
  delete(key: TrackedKey): void;
  /** The version that holds what has come. Nothing may come after that. */
  version(): Version;
}

export function gathered(kind: TrackedKind): Gathered {
  if (kind === "owned") return new GatheredRecords();
  return kind === "list" ? new GatheredItems() : new GatheredEntries(kind);
}

class GatheredEntries implements Gathered {
  readonly #store = new EntryStore();
  #last = 0;
  /** Have they come in their order? Entries of a journal come in the order of their keys. */
  #isSorted = true;

  constructor(readonly kind: TrackedKind) {}

  put({ key, sequence, value }: Content): void {
    const known = this.#store.find(checkKey(key, () => `a tracked ${this.kind} that is moved`));
    if (known?.sequence === sequence) {
      known.value = value;
      return;
    }
    if (known !== undefined) this.#store.unload(known);
    if (sequence > this.#last) this.#last = sequence;
    else this.#isSorted = false;
    this.#store.load(key, sequence, value);
  }

  delete(key: TrackedKey): void {
    const known = this.#store.find(key);
    if (known !== undefined) this.#store.unload(known);
  }

  version(): Version {
    if (!this.#isSorted) this.#store.sort();
    return Version.root(this.kind, this.#store);
  }
}

/** Records and parts of checkpoints; parts that a later checkpoint has replaced may be among them for a while. */
class GatheredRecords implements Gathered {
  readonly kind = "owned";
  readonly #bytes = new Map<TrackedKey, Content>();

  put(content: Content): void {
    this.#bytes.set(content.key, content);
  }

  delete(key: TrackedKey): void {
    this.#bytes.delete(key);
  }

  version(): Version {
    return ownedVersion(this.#bytes.values());
  }
}

/** Items may come and go anywhere before they are a list without gaps. */
class GatheredItems implements Gathered {
  readonly kind = "list";
  readonly #items = new Map<TrackedKey, unknown>();

  put({ key, value }: Content): void {
    this.#items.set(key, value);
  }

  delete(key: TrackedKey): void {
    this.#items.delete(key);
  }

  version(): Version {
    const store = new ItemStore();
    let first = Number.POSITIVE_INFINITY;
    for (const position of this.#items.keys()) first = Math.min(first, Number(position));
    for (let at = first; at < first + this.#items.size; at++) {
      invariant(this.#items.has(at), "a tracked list that is moved has no gaps");
      store.load(at, this.#items.get(at));
    }
    return Version.root(this.kind, store satisfies Store);
  }
}
