import type { StreamService } from "../streams/index.js";
import { MetricCounter, MetricGauge } from "../telemetry/index.js";

/** So many streams and queries have series of their own; the rest is summed up as `other`. */
const SERIES_MAX = 5000;

/** The figures of all streams and queries, in the text format of Prometheus. */
export async function streamLines(service: StreamService): Promise<readonly string[]> {
  const rows = new MetricCounter(
    "headwater_stream_rows_total",
    "Rows of a stream or query so far.",
    SERIES_MAX,
  );
  const late = new MetricCounter(
    "headwater_stream_late_rows_total",
    "Rows behind the watermark.",
    SERIES_MAX,
  );
  const errors = new MetricCounter(
    "headwater_stream_errors_total",
    "Rows that a query could not compute.",
    SERIES_MAX,
  );
  const memory = new MetricGauge(
    "headwater_stream_memory_bytes",
    "What a stream or query holds.",
    SERIES_MAX,
  );
  const watermark = new MetricGauge(
    "headwater_stream_watermark_seconds",
    "The watermark, as a time.",
    SERIES_MAX,
  );
  for (const tenant of service.tenants)
    for (const each of await (await service.tenant(tenant)).graph()) {
      const labels = { tenant, stream: each.name };
      rows.add(labels, each.next - 1);
      late.add(labels, each.late);
      errors.add(labels, each.errors);
      memory.add(labels, each.memoryBytes);
      if (each.watermark !== null) watermark.set(labels, each.watermark / 1000);
    }
  return [rows, late, errors, memory, watermark].flatMap((metric) => metric.lines());
}
