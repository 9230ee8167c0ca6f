import { Context, type Ref, run, tracked } from "headwater";
import type { Subject } from "./subject.js";

/** About what an entry is as bytes, key and value together. */
export const ENTRY_BYTES = 100;

interface Account {
  readonly owner: string;
  readonly changes: number;
}

const OWNER = "somebody whose name and address make up most of the entry";

function keyOf(index: number): string {
  return `account ${String(index).padStart(16, "0")}`;
}

/** What all cases have in common: an event changes one thing, and the changes can be counted. */
abstract class Sized extends Context {
  abstract fill(entries: number): void;
  abstract change(index: number): void;
  abstract changes(): number;
}

class PlainMap extends Sized {
  accounts = new Map<string, Account>();

  fill(entries: number): void {
    for (let i = 0; i < entries; i++) this.accounts.set(keyOf(i), { owner: OWNER, changes: 0 });
  }
  change(index: number): void {
    const { changes = 0 } = this.accounts.get(keyOf(index)) ?? {};
    this.accounts.set(keyOf(index), { owner: OWNER, changes: changes + 1 });
  }
  changes(): number {
    return [...this.accounts.values()].reduce((sum, { changes }) => sum + changes, 0);
  }
}

class UntouchedObject extends Sized {
  count = 0;
  accounts: Record<string, Account> = {};

  fill(entries: number): void {
    for (let i = 0; i < entries; i++) this.accounts[keyOf(i)] = { owner: OWNER, changes: 0 };
  }
  change(): void {
    this.count++;
  }
  changes(): number {
    return this.count;
  }
}

class TrackedMap extends Sized {
  accounts = tracked.map<string, Account>();

  fill(entries: number): void {
    for (let i = 0; i < entries; i++) this.accounts.set(keyOf(i), { owner: OWNER, changes: 0 });
  }
  change(index: number): void {
    const { changes = 0 } = this.accounts.get(keyOf(index)) ?? {};
    this.accounts.set(keyOf(index), { owner: OWNER, changes: changes + 1 });
  }
  changes(): number {
    return [...this.accounts.values()].reduce((sum, { changes }) => sum + changes, 0);
  }
}

class TrackedListSet extends Sized {
  accounts = tracked.list<Account>();

  fill(entries: number): void {
    for (let i = 0; i < entries; i++) this.accounts.push({ owner: keyOf(i) + OWNER, changes: 0 });
  }
  change(index: number): void {
    const { owner = "", changes = 0 } = this.accounts.at(index) ?? {};
    this.accounts.set(index, { owner, changes: changes + 1 });
  }
  changes(): number {
    return [...this.accounts].reduce((sum, { changes }) => sum + changes, 0);
  }
}

/** Takes one out at the other end, so that the list stays as large as it is said to be. */
class TrackedListPush extends TrackedListSet {
  override change(): void {
    const { owner = "", changes = 0 } = this.accounts.at(-1) ?? {};
    this.accounts.push({ owner, changes: changes + 1 });
    this.accounts.shift();
  }
  override changes(): number {
    return this.accounts.at(-1)?.changes ?? 0;
  }
}

export const sizedClasses = {
  "plain-map": PlainMap,
  "plain-object-untouched": UntouchedObject,
  "tracked-map-set": TrackedMap,
  "tracked-list-push": TrackedListPush,
  "tracked-list-set": TrackedListSet,
} as const;

/** One context with so many entries; each event changes another one. */
export async function startSized(name: keyof typeof sizedClasses, entries: number): Promise<Subject> {
  const service = await run(sizedClasses[name] as typeof PlainMap);
  const root: Ref<PlainMap> = service.root;
  await root.fill(entries);
  let next = 0;
  return {
    call: () => {
      next = next + 1 < entries ? next + 1 : 0;
      return root.change(next);
    },
    counted: () => root.changes(),
    stop: () => service.stop(),
  };
}
