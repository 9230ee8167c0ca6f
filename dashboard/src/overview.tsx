import { useMemo } from "preact/hooks";
import { bytes, clock, count, duration, ms } from "./format.js";
import type { Live } from "./live.js";
import { Notices } from "./notices.js";
import { Plot } from "./plot.js";

export function OverviewPage({ live: { overview, seconds, notices } }: { live: Live }) {
  const last = seconds.at(-1);
  const times = useMemo(() => seconds.map(({ atMs }) => atMs), [seconds]);
  const lines = useMemo(
    () => ({
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
        {
          label: "commit p99",
          colour: "var(--purple)",
          values: seconds.map(({ commitP99Ms }) => commitP99Ms),
        },
      ],
    }),
    [seconds],
  );
  if (overview === null) return <p>Loading…</p>;
  return (
    <>
      <dl class="figures">
        <Figure name="events per second" value={count(last?.events ?? 0)} id="events-per-second" />
        <Figure name="p50" value={ms(last?.p50Ms ?? null)} />
        <Figure name="p99" value={ms(last?.p99Ms ?? null)} />
        <Figure name="failed per second" value={count(last?.failed ?? 0)} />
        <Figure name="restarted events" value={count(last?.restarts ?? 0)} />
        <Figure name="hosts" value={overview.hosts === null ? "one thread" : String(overview.hosts.length)} />
        <Figure name="memory of the head" value={bytes(overview.rssBytes)} />
        <Figure name="running for" value={duration(overview.startedAtMs, last?.atMs ?? overview.nowMs)} />
      </dl>
      <div class="plots">
        <Plot title="Per second" unit="/s" times={times} lines={lines.rates} />
        <Plot title="From ticket to answer" unit="ms" times={times} lines={lines.latency} />
        <Plot title="Where the time goes (medians)" unit="ms" times={times} lines={lines.parts} />
        {overview.journal !== null && <Plot title="Journal" unit="ms" times={times} lines={lines.commits} />}
      </div>
      <section aria-label="Program">
        <h2>Program</h2>
        <p>
          {overview.program}, process {overview.pid}, Node {overview.node}, started{" "}
          {clock(overview.startedAtMs)},{" "}
          {overview.journal === null
            ? "in memory: nothing survives the process"
            : `journal ${overview.journal}`}
        </p>
      </section>
      <Notices notices={notices} />
    </>
  );
}

function Figure({ name, value, id }: { name: string; value: string; id?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd id={id}>{value}</dd>
    </div>
  );
}
