import { useEffect, useState } from "preact/hooks";
import { type BusyContext, type Child, get, type Outline } from "./api.js";

/** A line of the tree: a context, or the rest of a page of children. */
export type Row =
  | {
      readonly kind: "context";
      readonly key: string;
      readonly address: string;
      readonly label: string;
      readonly depth: number;
      readonly host: number | null;
      readonly busy: BusyContext | null;
      readonly isOpen: boolean;
    }
  | {
      readonly kind: "more";
      readonly key: string;
      readonly address: string;
      readonly field: string;
      readonly depth: number;
    };

interface Opened {
  readonly singles: readonly string[];
  /** The children in each field with keys, as far as they were asked for. */
  readonly pages: Readonly<
    Record<string, { readonly contexts: readonly Child[]; readonly hasMore: boolean }>
  >;
}

const PAGE = "200";

/** Contexts are asked for when they are opened, a page at a time, so that a tree of any size can be looked at. */
export function useTree(roots: readonly string[]) {
  const [opened, setOpened] = useState<ReadonlyMap<string, Opened>>(new Map());
  const load = async (address: string) => {
    const outline = await get<Outline>("context", { address });
    const singles = outline.children
      .filter(({ isSingle }) => isSingle)
      .map(({ field }) => `${address}.${field}`);
    const pages: Record<string, { contexts: readonly Child[]; hasMore: boolean }> = {};
    for (const { field, isSingle } of outline.children) {
      if (!isSingle) pages[field] = await get("children", { address, field, limit: PAGE });
    }
    setOpened((before) => new Map(before).set(address, { singles, pages }));
  };
  useEffect(() => {
    for (const root of roots) void load(root).catch(() => {});
  }, [roots.join()]);

  const toggle = (row: Row) => {
    if (!opened.has(row.address)) return void load(row.address).catch(() => {});
    setOpened((before) => {
      const after = new Map(before);
      after.delete(row.address);
      return after;
    });
  };
  const more = async (row: Row) => {
    if (row.kind !== "more") return;
    const known = opened.get(row.address);
    const page = known?.pages[row.field];
    const after = page?.contexts.at(-1)?.address;
    if (known === undefined || page === undefined || after === undefined) return;
    const next = await get<{ contexts: Child[]; hasMore: boolean }>("children", {
      address: row.address,
      field: row.field,
      limit: PAGE,
      after,
    });
    const all = { contexts: [...page.contexts, ...next.contexts], hasMore: next.hasMore };
    setOpened((before) =>
      new Map(before).set(row.address, { ...known, pages: { ...known.pages, [row.field]: all } }),
    );
  };
  const rows: Row[] = [];
  const add = ({ address, host, busy }: Child, label: string, depth: number) => {
    const below = opened.get(address);
    rows.push({
      kind: "context",
      key: address,
      address,
      label,
      depth,
      host,
      busy,
      isOpen: below !== undefined,
    });
    if (below === undefined) return;
    for (const single of below.singles)
      add({ address: single, host: null, busy: null }, single.slice(address.length), depth + 1);
    for (const [field, { contexts, hasMore }] of Object.entries(below.pages)) {
      for (const child of contexts) add(child, child.address.slice(address.length), depth + 1);
      if (hasMore) rows.push({ kind: "more", key: `${address} ${field}`, address, field, depth: depth + 1 });
    }
  };
  for (const root of roots) add({ address: root, host: null, busy: null }, root, 0);
  return { rows, toggle, more };
}
