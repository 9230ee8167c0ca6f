import { MemoryJournal } from "headwater";
import type { Write } from "#src/journal/journal.js";

/** A journal that remembers its groups: after any of them, the program could have been killed. */
export class Groups extends MemoryJournal {
  readonly groups: (readonly Write[])[] = [];

  override append(writes: readonly Write[], done: Parameters<MemoryJournal["append"]>[1]): void {
    this.groups.push([...writes]);
    super.append(writes, done);
  }

  /** The journal of a program that was killed after so many groups. */
  first(count: number): Groups {
    const journal = new Groups();
    for (const group of this.groups.slice(0, count)) journal.append(group, () => {});
    return journal;
  }
}
