import { HeadwaterError } from "../errors.js";
import { textOf } from "../model/below.js";
import { loadState, type Slot } from "./context/index.js";
import { shownState } from "./event/index.js";
import type { Addressed } from "./fleet/index.js";
import type { ChildrenPage } from "./inspector.js";
import type { Program } from "./node/index.js";
import { ContextsBelow } from "./runner/index.js";
import { outOfRange } from "./store/index.js";

/** The contexts of a logical node as they were when the event with a ticket had committed, and no later one. */
export interface Past {
  readonly node: string;
  readonly ticket: number;
  /** The fields of a context as JSON, as in the dashboard and in `headwater journal`; null if it did not exist. */
  state(address: string, bytesMax?: number): Readonly<Record<string, unknown>> | null;
  /** A page of the children in a field that existed. */
  children(address: string, field: string, options?: { after?: string; limit?: number }): ChildrenPage;
}

const BYTES_MAX = 256 * 1024;
const PAGE_KEYS = 100;

export function pastOf(program: Program, addressed: Addressed, ticket: number, named?: string): Past {
  const [only = "", ...others] = program.nodes.keys();
  const node = named ?? only;
  if (named === undefined && others.length > 0)
    throw new HeadwaterError(
      "HW-1017",
      "the program has several logical nodes: say which, `service.at(ticket, node)`.",
    );
  const past = program.ledger?.past ?? null;
  if (past === null) throw outOfRange(node, ticket, null);
  const table = past.at(node, ticket);
  const slotAt = (address: string): Slot => {
    past.at(node, ticket); // it may have become too old meanwhile
    const slot = addressed.slot(address, program.roots);
    if (slot.node === node) return slot;
    throw new HeadwaterError("HW-1017", `${address} is not in the logical node ${node}, whose past this is.`);
  };
  return {
    node,
    ticket,
    state: (address, bytesMax = BYTES_MAX) => {
      const slot = slotAt(address);
      const { isThere } = slot.stored;
      const state = loadState(table, slot);
      slot.stored.isThere = isThere; // of the journal as it is now
      if (state === null) return null;
      return JSON.parse(shownState(slot, state, bytesMax)) as Record<string, unknown>;
    },
    children: (address, field, { after, limit = PAGE_KEYS } = {}) => {
      const slot = slotAt(address);
      const at = slot.shape.slots.find((each) => each.field === field);
      if (at === undefined || at.single) return { addresses: [], hasMore: false };
      const key = after === undefined ? undefined : slotAt(after).key;
      const below = new ContextsBelow(table, new Map());
      const page = below.page(slot, [field, key === undefined ? "" : textOf(key), limit]);
      const addresses = page.keys.map((each) => String(slot.child(at, each)));
      return { addresses, hasMore: page.next !== undefined };
    },
  };
}
