import { useEffect, useRef, useState } from "preact/hooks";
import type { Notice } from "./api.js";
import { clock } from "./format.js";

const SHOWN_MAX = 60;

/** What has happened lately, the newest first. */
export function Notices({ notices }: { notices: readonly Notice[] }) {
  const shown = notices.slice(-SHOWN_MAX).reverse();
  return (
    <section class="card" aria-label="What happened">
      <h2>What happened</h2>
      {shown.length === 0 && (
        <p class="faint">Nothing besides events: no host came or went, no context has moved.</p>
      )}
      <ol class="notices">
        {shown.map((notice) => (
          <li key={notice.number} class={kindOf(notice)}>
            <time>{clock(notice.atMs)}</time> <NoticeText notice={notice} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The first line, and the rest, a stack, for whom it concerns. */
function NoticeText({ notice }: { notice: Notice }) {
  const [first = "", ...more] = textOf(notice).split("\n");
  if (more.length === 0) return <span>{first}</span>;
  return (
    <details>
      <summary>{first}</summary>
      <pre>{more.join("\n")}</pre>
    </details>
  );
}

const STEPS = {
  copying: "is being copied",
  waiting: "is copied and waits for its turn",
  locked: "is locked for the last changes",
  moved: "has moved",
  failed: "could not be moved",
} as const;

function kindOf(notice: Notice): string {
  if (notice.kind === "note") return "bad";
  if (notice.kind === "host") return notice.what === "lost" ? "bad" : "good";
  return notice.step === "failed" ? "bad" : notice.step === "moved" ? "good" : "";
}

function textOf(notice: Notice): string {
  if (notice.kind === "note") return notice.text;
  if (notice.kind === "host")
    return `Host ${notice.host} ${notice.what}${notice.why === null ? "" : `: ${notice.why}`}`;
  return `${notice.context} ${STEPS[notice.step]} (host ${notice.from} → ${notice.to})`;
}

/** A screen reader is told no more often. */
const SAID_EVERY_MS = 5000;

/** Says what a listener must know, and how much else there was, a few times a minute at most; it is not seen. */
export function Announced({ notices }: { notices: readonly Notice[] }) {
  const last = notices.at(-1)?.number ?? 0;
  const told = useRef<number | null>(null);
  const [text, setText] = useState("");
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const again = setInterval(() => setTurn((before) => before + 1), SAID_EVERY_MS);
    return () => clearInterval(again);
  }, []);
  useEffect(() => {
    const before = told.current;
    told.current = last;
    if (before === null) return; // what was there when the page was opened is read, not announced
    const news = notices.filter((each) => each.number > before && kindOf(each) !== "");
    const worst = news.findLast((each) => kindOf(each) === "bad") ?? news.at(-1);
    if (worst === undefined) return;
    const others = news.length > 1 ? ` (and ${news.length - 1} more)` : "";
    setText(`${textOf(worst).split("\n")[0]?.slice(0, 200)}${others}`);
  }, [turn]);
  return (
    <p class="unseen" role="status" aria-label="News">
      {text}
    </p>
  );
}
