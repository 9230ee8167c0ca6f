import type { ComponentChild } from "preact";
import { useRef, useState } from "preact/hooks";

const ROW_PX = 26;
const SHOWN_PX = 480;
/** Rows above and below those in sight, so that scrolling finds them there. */
const SPARE = 10;

/** A long list of which only the rows in sight are in the page: ten thousand cost as much as forty. */
export function Rows<R extends { readonly key: string }>({
  label,
  rows,
  show,
}: {
  label: string;
  rows: readonly R[];
  show: (row: R) => ComponentChild;
}) {
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE);
  const last = Math.min(rows.length, Math.ceil((top + SHOWN_PX) / ROW_PX) + SPARE);
  return (
    <section
      class="rows"
      ref={box}
      aria-label={label}
      style={{ maxHeight: `${SHOWN_PX}px` }}
      onScroll={() => setTop(box.current?.scrollTop ?? 0)}
    >
      <div style={{ height: `${rows.length * ROW_PX}px`, position: "relative" }}>
        {rows.slice(first, last).map((row, i) => (
          <div
            key={row.key}
            class="row"
            style={{ position: "absolute", top: `${(first + i) * ROW_PX}px`, height: `${ROW_PX}px` }}
          >
            {show(row)}
          </div>
        ))}
      </div>
    </section>
  );
}
