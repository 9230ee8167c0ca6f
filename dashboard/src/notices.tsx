import type { Notice } from "./api.js";
import { clock } from "./format.js";

/** What has happened lately, the newest first. */
export function Notices({ notices }: { notices: readonly Notice[] }) {
  return (
    <section aria-label="What happened">
      <h2>What happened</h2>
      {notices.length === 0 && <p>Nothing besides events.</p>}
      <ol class="notices">
        {[...notices].reverse().map((notice) => (
          <li key={`${notice.atMs} ${textOf(notice)}`} class={notice.kind}>
            <time>{clock(notice.atMs)}</time> <span>{textOf(notice)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

const STEPS = {
  copying: "is being copied",
  waiting: "is copied and waits for its turn",
  locked: "is locked for the last changes",
  moved: "has moved",
  failed: "could not be moved",
} as const;

export function textOf(notice: Notice): string {
  if (notice.kind === "note") return notice.text;
  if (notice.kind === "host")
    return `Host ${notice.host} ${notice.what}${notice.why === null ? "" : `: ${notice.why}`}`;
  return `${notice.context} ${STEPS[notice.step]} (host ${notice.from} → ${notice.to})`;
}
