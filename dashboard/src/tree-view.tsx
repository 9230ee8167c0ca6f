import { useState } from "preact/hooks";
import type { ContextLook } from "./api.js";
import { count } from "./format.js";
import { HostMark } from "./host-mark.js";
import { Rows } from "./rows.js";
import { type Row, useTree } from "./tree.js";

/** Deeper contexts stand no further to the right: their level is said by `aria-level`, and by their address. */
const INDENTED_MAX = 12;
const PAGE_ROWS = 15;

/**
 * The tree of contexts, by the keys that trees have: up and down, right to open, left to close or to go to the parent, Enter to show one.
 * The box has the focus and names the row that is active, because rows come and go while it is scrolled.
 */
export function TreeView({
  roots,
  chosen,
  choose,
}: {
  roots: readonly string[];
  chosen: string | null;
  choose: (address: string) => void;
}) {
  const { rows, looks, toggle, shown } = useTree(roots);
  const [active, setActive] = useState<string | null>(null);
  const at = Math.max(
    0,
    rows.findIndex(({ key }) => key === active),
  );
  const [moved, setMoved] = useState<number | null>(null);
  const move = (to: number) => {
    const index = Math.max(0, Math.min(rows.length - 1, to));
    setActive(rows[index]?.key ?? null);
    setMoved(index);
  };
  const acts: Readonly<Record<string, (row: Row) => void>> = {
    ArrowDown: () => move(at + 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + PAGE_ROWS),
    PageUp: () => move(at - PAGE_ROWS),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    ArrowRight: (row) => {
      if (row.kind !== "context") return;
      if (!row.isOpen) toggle(row.address);
      else if ((rows[at + 1]?.depth ?? 0) > row.depth) move(at + 1);
    },
    ArrowLeft: (row) => {
      if (row.kind === "context" && row.isOpen) return toggle(row.address);
      const parent = rows.slice(0, at).findLastIndex(({ depth }) => depth < row.depth);
      if (parent >= 0) move(parent);
    },
    Enter: (row) => row.kind === "context" && choose(row.address),
    " ": (row) => row.kind === "context" && choose(row.address),
  };
  const pressed = (event: KeyboardEvent) => {
    const [act, row] = [acts[event.key], rows[at]];
    if (act === undefined || row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act(row);
  };
  return (
    <Rows
      label="Tree of contexts"
      role="tree"
      rows={rows}
      at={moved}
      shown={shown}
      box={{ onKeyDown: pressed }}
      active={at}
      row={(row, index) => ({
        id: idOf(row.key),
        role: "treeitem",
        "aria-level": row.depth + 1,
        "aria-expanded": row.kind === "context" ? row.isOpen : undefined,
        "aria-selected": row.kind === "context" && row.address === chosen,
        class: index === at ? "active" : "",
        onClick: () => {
          move(index);
          if (row.kind === "context") choose(row.address);
        },
      })}
      show={(row) => <TreeRow row={row} look={looks.get(row.address)} toggle={toggle} />}
    />
  );
}

function TreeRow({
  row,
  look,
  toggle,
}: {
  row: Row;
  look: ContextLook | undefined;
  toggle: (address: string) => void;
}) {
  const indented = { paddingLeft: `${Math.min(row.depth, INDENTED_MAX) * 1.1}em` };
  if (row.kind === "more")
    return (
      <span class="node faint" style={indented}>
        loading more…
      </span>
    );
  const perSecond = look?.perSecond ?? null;
  return (
    <span class="node" style={indented}>
      <span
        class={`twist ${row.isOpen ? "open" : ""}`}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          toggle(row.address);
        }}
      />
      <HostMark host={look?.host ?? null} />
      <span class="address">{row.label}</span>
      {perSecond !== null && <span class="rate">{count(perSecond)}/s</span>}
    </span>
  );
}

/** Addresses have characters that the names of elements cannot have. */
function idOf(key: string): string {
  return `context-${encodeURIComponent(key)}`;
}
