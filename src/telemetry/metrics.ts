import {
  type DroppedFact,
  type EventFact,
  type Fact,
  KINDS,
  type Observation,
  placeIn,
} from "../observe/index.js";
import type { Observed } from "./observed.js";
import { DurationHistogram, MetricCounter, MetricGauge } from "./series.js";

/** What is measured of a host, as `hostsOf(service).list()` tells it. */
export interface MeasuredHost {
  readonly id: number;
  readonly contexts: number;
  readonly events: number;
  readonly restarts: number;
  readonly load: { readonly utilisation: number; readonly heapBytes: number } | null;
}

export interface MetricsOptions {
  /** The hosts as they are now; none if the program runs in one thread. */
  readonly hosts?: () => readonly MeasuredHost[];
  /** Can the program commit? It is asked with each scrape. */
  readonly isHealthy?: () => Promise<boolean>;
  /** More lines in the text format of Prometheus. */
  readonly more?: () => Promise<readonly string[]>;
}

/** The media type of what `text` returns. */
const TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * The figures of a program in the text format of Prometheus. It counts from when it is made. Labels name contexts without their keys, so there
 * are as many series as the program has methods, however many contexts it has.
 */
export class Metrics {
  readonly type = TYPE;
  readonly #options: MetricsOptions;
  readonly #observation: Observation;
  readonly #events = new MetricCounter("headwater_events_total", "Events that are settled.");
  readonly #seconds = new DurationHistogram(
    "headwater_event_seconds",
    "Parts of the way of an event: waiting for earlier events, running, waiting for the journal, and all of it.",
  );
  readonly #restarts = new MetricCounter("headwater_event_restarts_total", "Attempts beyond the first.");
  readonly #waits = new MetricCounter(
    "headwater_event_waits_total",
    "Times that an event had to wait for another one.",
  );
  readonly #failures = new MetricCounter(
    "headwater_failures_total",
    "Failures of the program's code of which no caller in its process hears.",
  );
  readonly #refused = new MetricCounter(
    "headwater_refused_total",
    "Requests, connections and sessions that were refused.",
  );
  readonly #warnings = new MetricCounter("headwater_warnings_total", "Warnings to the operator.");
  readonly #hostChanges = new MetricCounter(
    "headwater_host_changes_total",
    "Hosts that joined, were lost, drained or removed.",
  );
  readonly #migrations = new MetricCounter(
    "headwater_migrations_total",
    "Migrations that moved their contexts, or failed.",
  );
  readonly #decisions = new MetricCounter("headwater_decisions_total", "What policies decided about hosts.");
  readonly #groups = new DurationHistogram(
    "headwater_journal_seconds",
    "Groups of events on their way into the journal.",
  );
  readonly #journaled = new MetricCounter("headwater_journal_events_total", "Events that the journal has.");
  readonly #dropped = new MetricCounter(
    "headwater_metrics_dropped_total",
    "Facts that were not counted for lack of room.",
  );
  readonly #halted = new MetricGauge("headwater_halted", "1 if nothing can commit any more.");
  readonly #healthy = new MetricGauge(
    "headwater_healthy",
    "1 if the program can commit: it was not fenced, and its journal takes writes.",
  );
  readonly #hosts = {
    contexts: new MetricGauge("headwater_host_contexts", "Contexts in the memory of a host."),
    events: new MetricGauge("headwater_host_events", "Events that are under way on a host."),
    restarts: new MetricGauge("headwater_host_restarts", "How often a host was lost and replaced."),
    utilisation: new MetricGauge("headwater_host_utilisation", "The share of time in which a host was busy."),
    heapBytes: new MetricGauge("headwater_host_heap_bytes", "The heap of a host."),
  };
  readonly #process = {
    memory: new MetricGauge("process_resident_memory_bytes", "Memory of the program's process."),
    cpu: new MetricGauge("process_cpu_seconds_total", "CPU time of the program's process."),
    started: new MetricGauge("process_start_time_seconds", "When the process was started."),
  };

  constructor(service: Observed, options: MetricsOptions = {}) {
    this.#options = options;
    this.#halted.set({}, 0);
    const kinds = KINDS.filter((kind) => kind !== "load" && kind !== "trail");
    this.#observation = service.observe(kinds, (fact) => this.#take(fact));
  }

  /** Counts no more. */
  stop(): void {
    this.#observation.stop();
  }

  /** All figures as they are now. */
  async text(): Promise<string> {
    this.#look();
    const isHealthy = await this.#options.isHealthy?.();
    if (isHealthy !== undefined) this.#healthy.set({}, isHealthy ? 1 : 0);
    const all = [
      ...[this.#events, this.#seconds, this.#restarts, this.#waits, this.#failures, this.#refused],
      ...[
        this.#warnings,
        this.#hostChanges,
        this.#migrations,
        this.#decisions,
        this.#groups,
        this.#journaled,
      ],
      ...[this.#dropped, this.#halted, this.#healthy, ...Object.values(this.#hosts)],
      ...Object.values(this.#process),
    ];
    const more = (await this.#options.more?.()) ?? [];
    return `${[...all.flatMap((metric) => metric.lines()), ...more].join("\n")}\n`;
  }

  #take(fact: Fact | DroppedFact): void {
    switch (fact.kind) {
      case "event":
        return this.#event(fact);
      case "wait":
        return this.#waits.add({ node: fact.node, place: placeIn(fact.context) });
      case "host":
        return this.#hostChanges.add({ what: fact.what });
      case "migration":
        if (fact.step === "moved" || fact.step === "failed") this.#migrations.add({ outcome: fact.step });
        return;
      case "decision":
        return this.#decisions.add({ action: fact.action.kind });
      case "journal":
        this.#groups.observe({ node: fact.node }, fact.ms);
        return this.#journaled.add({ node: fact.node }, fact.events);
      case "refused":
        return this.#refused.add({ what: fact.what, code: fact.code });
      case "failure":
        return this.#failures.add({ started_by: fact.startedBy }, 1 + fact.unreported);
      case "warning":
        return this.#warnings.add({ code: fact.error.code });
      case "halted":
        return this.#halted.set({}, 1);
      case "dropped":
        return this.#dropped.add({}, fact.count);
      case "load":
      case "member":
        return;
    }
  }

  #event({ node, context, method, ok, attempts, ...fact }: EventFact): void {
    this.#events.add({ node, place: placeIn(context), method, outcome: ok ? "ok" : "failed" });
    if (attempts > 1) this.#restarts.add({ node }, attempts - 1);
    this.#seconds.observe({ node, part: "waited" }, fact.waitedMs);
    this.#seconds.observe({ node, part: "ran" }, fact.ranMs);
    this.#seconds.observe({ node, part: "journaled" }, fact.journaledMs);
    this.#seconds.observe({ node, part: "total" }, fact.totalMs);
  }

  /** Figures that are looked up, not counted. */
  #look(): void {
    for (const gauge of Object.values(this.#hosts)) gauge.clear();
    for (const { id, contexts, events, restarts, load } of this.#options.hosts?.() ?? []) {
      const host = { host: String(id) };
      this.#hosts.contexts.set(host, contexts);
      this.#hosts.events.set(host, events);
      this.#hosts.restarts.set(host, restarts);
      if (load === null) continue;
      this.#hosts.utilisation.set(host, load.utilisation);
      this.#hosts.heapBytes.set(host, load.heapBytes);
    }
    const { user, system } = process.cpuUsage();
    this.#process.memory.set({}, process.memoryUsage.rss());
    this.#process.cpu.set({}, (user + system) / 1e6);
    this.#process.started.set({}, Date.now() / 1000 - process.uptime());
  }
}
