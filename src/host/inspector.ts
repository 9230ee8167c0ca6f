import { textOf } from "../model/below.js";
import { contextNameIn } from "./context/index.js";
import { SHOW } from "./event/index.js";
import { Addressed } from "./fleet/index.js";
import type { Program } from "./node/index.js";
import { type Past, pastOf } from "./past.js";
import { ContextsBelow } from "./runner/index.js";
import type { HistorySpan } from "./store/index.js";

/** A context, and what its class has below it. */
export interface ContextOutline {
  readonly address: string;
  /** The name of its logical node. */
  readonly node: string;
  readonly className: string;
  /** The names of its fields. */
  readonly fields: readonly string[];
  readonly children: readonly ChildField[];
  /** The host that has it or would have it; null if the program runs in one thread. */
  readonly host: number | null;
}

export interface ChildField {
  readonly field: string;
  readonly className: string;
  /** One child, not one for each key. */
  readonly isSingle: boolean;
}

export interface ChildrenPage {
  /** The addresses of children that exist, in the order of their keys. */
  readonly addresses: readonly string[];
  readonly hasMore: boolean;
}

/**
 * Looks at the contexts of a running program without holding events up: which there are is what the journal has or, without
 * one, what events have left in memory, at this moment and without a ticket. Only a state is read by an event, which is
 * read-only and enters that one context.
 */
export interface Inspector {
  /** The addresses of the roots, one for each logical node. */
  readonly roots: readonly string[];
  outline(address: string): ContextOutline;
  /** A page of the children in a field, behind the child with the address `after`. */
  children(address: string, field: string, options?: { after?: string; limit?: number }): ChildrenPage;
  /** The fields of a context as JSON of at most about so many bytes. */
  state(address: string, bytesMax: number): Promise<string>;
  /** The contexts of a logical node as of a ticket. */
  at(ticket: number, node?: string): Past;
  /** The addresses of the contexts that an event changed, as far as they can be told; null if it is not in the history. */
  changedBy(node: string, ticket: number): readonly string[] | null;
  /** How far back that goes, by logical node; empty if no history is kept. */
  history(): Readonly<Record<string, HistorySpan>>;
}

const PAGE_KEYS = 100;

/** The address of the context that a key is of; null for keys that do not show it. */
function addressIn(key: string): string | null {
  const name = contextNameIn(key);
  return name === null || name.startsWith("#") ? null : name.slice(name.indexOf("/") + 1);
}

export function inspectorFor(program: Program): Inspector {
  const classes = [...program.roots].map(([node, { shape }]) => [node, shape.cls] as const);
  const addressed = new Addressed(Object.fromEntries(classes));
  const slotAt = (address: string) => addressed.slot(address, program.roots);
  return {
    roots: [...program.nodes.values()].map(({ root }) => String(root)),
    outline: (address) => {
      const slot = slotAt(address);
      const { name, fields, slots } = slot.shape;
      return {
        address: String(slot),
        node: slot.node,
        className: name,
        fields,
        children: slots.map(({ field, cls, single }) => ({ field, className: cls.name, isSingle: single })),
        host: program.hostOf(slot),
      };
    },
    children: (address, field, { after, limit = PAGE_KEYS } = {}) => {
      const slot = slotAt(address);
      const at = slot.shape.slots.find((each) => each.field === field);
      if (at === undefined || at.single) return { addresses: [], hasMore: false };
      const key = after === undefined ? undefined : slotAt(after).key;
      const below = new ContextsBelow(program.ledger?.journal ?? null, new Map());
      const page = below.page(slot, [field, key === undefined ? "" : textOf(key), limit]);
      const addresses = page.keys.map((each) => String(slot.child(at, each)));
      return { addresses, hasMore: page.next !== undefined };
    },
    at: (ticket, node) => pastOf(program, addressed, ticket, node),
    changedBy: (node, ticket) => {
      const keys = program.ledger?.past?.keysOf(node, ticket) ?? null;
      return keys === null ? null : [...new Set(keys.flatMap((key) => addressIn(key) ?? []))];
    },
    history: () => {
      const spans = [...program.nodes.keys()].map(
        (node) => [node, program.ledger?.past?.span(node)] as const,
      );
      return Object.fromEntries(
        spans.flatMap(([node, span]) => (span ? [[node, { from: span.from, to: span.to }]] : [])),
      );
    },
    state: async (address, bytesMax) => String(await program.ask(slotAt(address), SHOW, [bytesMax], {})),
  };
}
