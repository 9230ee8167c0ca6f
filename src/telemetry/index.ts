/**
 * What goes on in a program, for the tools that operators have: figures for Prometheus (`metrics.ts`, written by `series.ts`) and a log of
 * JSON lines with levels (`event-log.ts`). Spans for OpenTelemetry are a door of their own (`opentelemetry.ts`, `headwater/opentelemetry`),
 * because that package is installed by users who want it. All of them read the feed of `src/observe`, and nothing else of the runtime.
 */
export { type EventLogOptions, LOG_LEVELS, type LogLevel, logFacts } from "./event-log.js";
export { type MeasuredHost, Metrics, type MetricsOptions } from "./metrics.js";
export { MetricCounter, MetricGauge } from "./series.js";
