import type { AriaRole, ComponentChild, HTMLAttributes } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export const ROW_PX = 30;
/** Until the box is measured. */
const SHOWN_PX = 600;
/** Rows above and below those in sight, so that scrolling finds them there. */
const SPARE = 8;

export interface RowsProps<R> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly show: (row: R, index: number) => ComponentChild;
  /** The role of the box, and attributes of it and of each row. */
  readonly role?: AriaRole;
  readonly box?: HTMLAttributes<HTMLDivElement>;
  readonly row?: (row: R, index: number) => HTMLAttributes<HTMLDivElement>;
  /** The row that keys act on: the box, which has the focus, names it while it is in the page. */
  readonly active?: number;
  /** The row that is to be in sight. */
  readonly at?: number | null;
  /** Hears which rows are in the page. */
  readonly shown?: (rows: readonly R[]) => void;
  readonly scrolled?: (topPx: number) => void;
}

/** A long list of which only the rows in sight are in the page: ten thousand cost as much as forty. */
export function Rows<R extends { readonly key: string }>({
  label,
  rows,
  show,
  role = "list",
  box: attributes = {},
  row: attributesOf = listItem(rows.length),
  active = -1,
  at = null,
  shown,
  scrolled,
}: RowsProps<R>) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(SHOWN_PX);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return;
    const sized = new ResizeObserver(() => setHeight(current.clientHeight));
    sized.observe(current);
    return () => sized.disconnect();
  }, []);
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null || at === null) return;
    const [from, to] = [at * ROW_PX, (at + 1) * ROW_PX];
    if (from < current.scrollTop) current.scrollTop = from;
    else if (to > current.scrollTop + current.clientHeight) current.scrollTop = to - current.clientHeight;
  }, [at]);
  const first = Math.max(0, Math.min(Math.floor(top / ROW_PX), rows.length) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + SPARE);
  const inPage = rows.slice(first, last);
  const acted = first <= active && active < last ? rows[active] : undefined;
  useEffect(() => shown?.(inPage), [rows, first, last]);
  return (
    <div
      class="rows"
      ref={box}
      role={role}
      aria-label={label}
      tabIndex={0}
      onScroll={() => {
        const { scrollTop = 0 } = box.current ?? {};
        setTop(scrollTop);
        scrolled?.(scrollTop);
      }}
      aria-activedescendant={acted === undefined ? undefined : attributesOf(acted, active).id}
      {...attributes}
    >
      <div class="all" role="presentation" style={{ height: `${rows.length * ROW_PX}px` }}>
        {inPage.map((row, i) => (
          <div
            key={row.key}
            style={{ transform: `translateY(${(first + i) * ROW_PX}px)` }}
            {...attributesOf(row, first + i)}
            class={`row ${attributesOf(row, first + i).class ?? ""}`}
          >
            {show(row, first + i)}
          </div>
        ))}
      </div>
    </div>
  );
}

function listItem(count: number) {
  return (_: unknown, index: number): HTMLAttributes<HTMLDivElement> => {
    return { role: "listitem", "aria-posinset": index + 1, "aria-setsize": count };
  };
}
