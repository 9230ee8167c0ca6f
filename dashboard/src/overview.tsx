import { useMemo } from "preact/hooks";
import { bytes, clock, count, duration, ms } from "./format.js";
import { Fact } from "./hosts.js";
import type { Live } from "./live.js";
import { Notices } from "./notices.js";
import { type Line, Plot } from "./plot.js";

export function OverviewPage({ live: { overview, seconds, notices } }: { live: Live }) {
  const last = seconds.at(-1);
  const times = useMemo(() => seconds.map(({ atMs }) => atMs), [seconds]);
  const lines = useMemo(() => linesOf(seconds), [seconds]);
  if (overview === null) return <p class="faint">Loading…</p>;
  const { hosts, program, pid, node, journal, startedAtMs, rssBytes, nowMs } = overview;
  return (
    <>
      <dl class="figures card" aria-label="Figures of the last second">
        <Fact name="events per second" value={count(last?.events ?? 0)} id="events-per-second" />
        <Fact name="p50" value={ms(last?.p50Ms ?? null)} />
        <Fact name="p99" value={ms(last?.p99Ms ?? null)} />
        <Fact name="failed per second" value={count(last?.failed ?? 0)} />
        <Fact name="restarted events" value={count(last?.restarts ?? 0)} />
        <Fact name="hosts" value={hosts === null ? "one thread" : String(hosts.length)} />
        <Fact name="memory of the head" value={bytes(rssBytes)} />
        <Fact name="running for" value={duration(startedAtMs, last?.atMs ?? nowMs)} />
      </dl>
      <div class="plots">
        <Plot title="Per second" unit="/s" times={times} lines={lines.rates} />
        <Plot title="From ticket to answer" unit="ms" times={times} lines={lines.latency} />
        <Plot title="Where the time goes (medians)" unit="ms" times={times} lines={lines.parts} />
        {journal !== null && <Plot title="Journal" unit="ms" times={times} lines={lines.commits} />}
      </div>
      <Notices notices={notices} />
      <section class="about" aria-label="Program">
        <p class="faint">
          {program}, process {pid}, Node {node}, started {clock(startedAtMs)},{" "}
          {journal === null ? "in memory: nothing survives the process" : `journal ${journal}`}
        </p>
      </section>
    </>
  );
}

function linesOf(
  seconds: Live["seconds"],
): Readonly<Record<"rates" | "latency" | "parts" | "commits", readonly Line[]>> {
  return {
    rates: [
      { label: "events", colour: "var(--blue)", values: seconds.map(({ events }) => events) },
      { label: "failed", colour: "var(--red)", values: seconds.map(({ failed }) => failed) },
      { label: "refused", colour: "var(--orange)", values: seconds.map(({ refused }) => refused) },
    ],
    latency: [
      { label: "p50", colour: "var(--green)", values: seconds.map(({ p50Ms }) => p50Ms) },
      { label: "p99", colour: "var(--purple)", values: seconds.map(({ p99Ms }) => p99Ms) },
    ],
    parts: [
      { label: "waiting", colour: "var(--orange)", values: seconds.map(({ waitedMs }) => waitedMs) },
      { label: "running", colour: "var(--blue)", values: seconds.map(({ ranMs }) => ranMs) },
      { label: "journal", colour: "var(--purple)", values: seconds.map(({ journaledMs }) => journaledMs) },
    ],
    commits: [
      { label: "commit p99", colour: "var(--purple)", values: seconds.map(({ commitP99Ms }) => commitP99Ms) },
    ],
  };
}
