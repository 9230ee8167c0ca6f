import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Child, type ContextLook, get, type Outline, post } from "./api.js";
import { useEvery } from "./every.js";

/** A line of the tree: a context, or the rest of a page of children. */
export interface ContextRow {
  readonly kind: "context";
  readonly key: string;
  readonly address: string;
  readonly label: string;
  readonly depth: number;
  readonly isOpen: boolean;
}

export interface MoreRow {
  readonly kind: "more";
  readonly key: string;
  readonly address: string;
  readonly field: string;
  readonly depth: number;
}

export type Row = ContextRow | MoreRow;

interface Opened {
  readonly singles: readonly string[];
  /** The children in each field with keys, as far as they were asked for. */
  readonly pages: Readonly<
    Record<string, { readonly addresses: readonly string[]; readonly hasMore: boolean }>
  >;
}

interface ChildrenAnswer {
  readonly contexts: readonly Child[];
  readonly hasMore: boolean;
}

const PAGE = "500";
const LOOK_EVERY_MS = 2000;
const LOOK_LENGTH_MAX = 20_000;

/** Contexts are asked for when they are opened, a page at a time, and looked at while they are in sight: a tree of any size can be shown. */
export function useTree(roots: readonly string[]) {
  const [opened, setOpened] = useState<ReadonlyMap<string, Opened>>(new Map());
  const [looks, setLooks] = useState<ReadonlyMap<string, ContextLook>>(new Map());
  const inSight = useRef<readonly string[]>([]);
  const onTheWay = useRef(new Set<string>());

  const load = async (address: string) => {
    const outline = await get<Outline>("context", { address });
    const singles = outline.children
      .filter(({ isSingle }) => isSingle)
      .map(({ field }) => `${address}.${field}`);
    const pages: Record<string, { addresses: readonly string[]; hasMore: boolean }> = {};
    for (const { field, isSingle } of outline.children) {
      if (!isSingle) pages[field] = pageOf(await get("children", { address, field, limit: PAGE }));
    }
    setOpened((before) => new Map(before).set(address, { singles, pages }));
  };
  useEffect(() => {
    for (const root of roots) void load(root).catch(() => {});
  }, [roots.join()]);

  const toggle = (address: string) => {
    if (!opened.has(address)) return void load(address).catch(() => {});
    setOpened((before) => {
      const after = new Map(before);
      after.delete(address);
      return after;
    });
  };

  const more = async ({ address, field, key }: MoreRow) => {
    const after = opened.get(address)?.pages[field]?.addresses.at(-1);
    if (after === undefined || onTheWay.current.has(key)) return;
    onTheWay.current.add(key);
    try {
      const next = pageOf(await get("children", { address, field, limit: PAGE, after }));
      setOpened((before) => {
        const known = before.get(address);
        const page = known?.pages[field];
        if (known === undefined || page === undefined || page.addresses.at(-1) !== after) return before;
        const all = { addresses: [...page.addresses, ...next.addresses], hasMore: next.hasMore };
        return new Map(before).set(address, { ...known, pages: { ...known.pages, [field]: all } });
      });
    } finally {
      onTheWay.current.delete(key);
    }
  };

  const rows = useMemo(() => rowsOf(roots, opened), [roots.join(), opened]);
  const look = useCallback(async () => {
    const addresses = fitting(inSight.current);
    if (addresses.length === 0) return;
    const answer = await post<{ looks: readonly ContextLook[] }>("look", { addresses });
    setLooks(
      new Map(addresses.flatMap((address, i) => (answer.looks[i] ? [[address, answer.looks[i]]] : []))),
    );
  }, []);
  useEvery(LOOK_EVERY_MS, look, []);
  /** The rest of a page is asked for as soon as it comes into sight. */
  const shown = (some: readonly Row[]) => {
    const before = inSight.current;
    inSight.current = some.flatMap((each) => (each.kind === "context" ? [each.address] : []));
    for (const each of some) if (each.kind === "more") void more(each).catch(() => {});
    if (inSight.current.some((each) => !before.includes(each))) void look().catch(() => {});
  };
  return { rows, looks, toggle, shown };
}

/** So many contexts are asked about at once: a body has a limit, and addresses may be long. */
function fitting(addresses: readonly string[]): readonly string[] {
  let length = 0;
  const end = addresses.findIndex((each) => {
    length += each.length;
    return length > LOOK_LENGTH_MAX;
  });
  return end < 0 ? addresses : addresses.slice(0, end);
}

function pageOf({ contexts, hasMore }: ChildrenAnswer) {
  return { addresses: contexts.map(({ address }) => address), hasMore };
}

function rowsOf(roots: readonly string[], opened: ReadonlyMap<string, Opened>): readonly Row[] {
  const rows: Row[] = [];
  const add = (address: string, label: string, depth: number) => {
    const below = opened.get(address);
    rows.push({ kind: "context", key: address, address, label, depth, isOpen: below !== undefined });
    if (below === undefined) return;
    for (const single of below.singles) add(single, single.slice(address.length), depth + 1);
    for (const [field, { addresses, hasMore }] of Object.entries(below.pages)) {
      for (const child of addresses) add(child, child.slice(address.length), depth + 1);
      if (hasMore) rows.push({ kind: "more", key: `${address} ${field}`, address, field, depth: depth + 1 });
    }
  };
  for (const root of roots) add(root, root, 0);
  return rows;
}
