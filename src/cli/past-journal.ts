import { HeadwaterError } from "../errors.js";
import { eventKey, outOfRange, type PastEvent, pastEventOf, spanIn } from "../host/store/index.js";
import { MemoryJournal } from "../journal/memory.js";
import { withSurvey } from "../journal/survey.js";
import { TableAt } from "../journal/versions.js";

/** The states of a journal and what it keeps of the past, read into memory from a directory. */
export class PastJournal {
  readonly #now: MemoryJournal;
  readonly nodes: readonly string[];

  private constructor(now: MemoryJournal, nodes: readonly string[]) {
    this.#now = now;
    this.nodes = nodes;
  }

  /** Reads only: it takes nothing over, and works while a service runs with the journal. */
  static async of(directory: string): Promise<PastJournal> {
    const now = new MemoryJournal();
    const nodes: string[] = [];
    await withSurvey(directory, async ({ entries }) => {
      for (const [key, value] of entries) {
        if (value === null || !KEPT.test(key)) continue;
        now.append([{ key, value: Buffer.from(value) }], () => {});
        if (key.startsWith(FLOORS)) nodes.push(decodeURIComponent(key.slice(FLOORS.length)));
      }
    });
    return new PastJournal(now, nodes);
  }

  /** The node that is named, or the only node that there is. */
  node(named: string | undefined): string {
    const [only, ...others] = this.nodes;
    if (named !== undefined) return named;
    if (only === undefined)
      throw new HeadwaterError("HW-3029", "the journal keeps no history: run the program with `--history`.");
    if (others.length === 0) return only;
    throw new HeadwaterError(
      "HW-3029",
      `the journal has the logical nodes ${this.nodes.join(", ")}: say which, with --node.`,
    );
  }

  at(node: string, ticket: number): TableAt {
    const span = spanIn(this.#now, node);
    if (span === null || ticket < span.from || ticket > span.to) throw outOfRange(node, ticket, span);
    return new TableAt(this.#now, ticket);
  }

  /** The event that had a ticket and changed something; null if there was none. */
  event(node: string, ticket: number): PastEvent | null {
    const key = eventKey(node, ticket);
    const bytes = this.#now.get(key);
    return bytes === undefined ? null : pastEventOf(key, bytes);
  }
}

const FLOORS = "z/";
/** States, what is kept of the past, the name of the journal, its classes and nodes. */
const KEPT = /^(?:[cdvyzsi]\/|l\/|h$)/;
/** Keys of states. */
const STATES = ["c/", "d/", "l/"];

/** All keys of states as of a ticket. */
export function* statesIn(table: TableAt): Iterable<[key: string, value: Uint8Array]> {
  for (const prefix of STATES) yield* table.range(prefix);
}
