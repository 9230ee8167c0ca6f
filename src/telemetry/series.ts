/** Labels of one series: `{ node: "Game", method: "join" }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Bounds of histograms of durations, in seconds: from a tenth of a millisecond to a minute. */
const BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

interface Buckets {
  readonly counts: number[];
  sum: number;
  count: number;
}

/**
 * Metrics of one name, with one series for each combination of labels, as the text format of Prometheus writes them. A metric has at
 * most so many series; what comes beyond that is counted under labels that say `other`, so that a sum is right all the same.
 */
abstract class Metric<V> {
  protected readonly series = new Map<string, V>();

  constructor(
    readonly name: string,
    readonly help: string,
    readonly seriesMax = 1000,
  ) {}

  protected abstract readonly type: string;
  protected abstract make(): V;
  protected abstract linesOf(labels: string, value: V): string[];

  protected at(labels: MetricLabels): V {
    let key = textOf(labels);
    let found = this.series.get(key);
    if (found !== undefined) return found;
    if (this.series.size >= this.seriesMax) {
      key = textOf(Object.fromEntries(Object.keys(labels).map((name) => [name, "other"])));
      found = this.series.get(key);
    }
    found ??= this.make();
    this.series.set(key, found);
    return found;
  }

  lines(): string[] {
    const lines = [...this.series].flatMap(([labels, value]) => this.linesOf(labels, value));
    return [`# HELP ${this.name} ${escaped(this.help)}`, `# TYPE ${this.name} ${this.type}`, ...lines];
  }
}

export class MetricCounter extends Metric<{ value: number }> {
  protected readonly type: string = "counter";

  add(labels: MetricLabels = {}, by = 1): void {
    this.at(labels).value += by;
  }

  protected make(): { value: number } {
    return { value: 0 };
  }

  protected linesOf(labels: string, { value }: { value: number }): string[] {
    return [`${this.name}${inBraces(labels)} ${numberOf(value)}`];
  }
}

/** A figure that goes up and down. It is set anew whenever it is asked for. */
export class MetricGauge extends MetricCounter {
  protected override readonly type = "gauge";

  set(labels: MetricLabels, value: number): void {
    this.at(labels).value = value;
  }

  clear(): void {
    this.series.clear();
  }
}

export class DurationHistogram extends Metric<Buckets> {
  protected readonly type = "histogram";

  observe(labels: MetricLabels, ms: number): void {
    const buckets = this.at(labels);
    const seconds = ms / 1000;
    buckets.sum += seconds;
    buckets.count += 1;
    let i = BOUNDS.findIndex((bound) => seconds <= bound);
    if (i < 0) i = BOUNDS.length;
    buckets.counts[i] = (buckets.counts[i] ?? 0) + 1;
  }

  protected make(): Buckets {
    return { counts: new Array<number>(BOUNDS.length + 1).fill(0), sum: 0, count: 0 };
  }

  protected linesOf(labels: string, { counts, sum, count }: Buckets): string[] {
    let below = 0;
    const bounds = [...BOUNDS.map(String), "+Inf"].map((bound, i) => {
      below += counts[i] ?? 0;
      const all = labels === "" ? `le="${bound}"` : `${labels},le="${bound}"`;
      return `${this.name}_bucket{${all}} ${below}`;
    });
    const own = inBraces(labels);
    return [...bounds, `${this.name}_sum${own} ${numberOf(sum)}`, `${this.name}_count${own} ${count}`];
  }
}

function textOf(labels: MetricLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`)
    .join(",");
}

function inBraces(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function numberOf(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
