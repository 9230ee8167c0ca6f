import { type ElasticHosts, hostsOf, keep, type Policy, run, type Service } from "headwater";
import { Findings, figureOptions } from "./lib/figures.js";
import { Latencies, sleep } from "./lib/latencies.js";
import Town, { textOf } from "./lib/town.js";

/**
 * Figure 17 of EventWave: a key-value store whose data grows, on one host and on hosts that are doubled whenever their
 * memory passes a bound.
 */

const BUCKETS = 64;
const CHARACTERS = 8000;
const PUTS_PER_SECOND = 500;
const TURN_MS = 10;
const SAMPLE_MS = 400;
const BYTES_MAX = 40e6;
const HOSTS_MAX = 4;
const module = new URL("./lib/town.ts", import.meta.url).href;

interface Row {
  readonly case: string;
  readonly hosts: number;
  readonly puts: number;
  readonly allBytes: number;
  /** The most that one host ever had. */
  readonly heapBytesMax: number;
  readonly dataBytesMax: number;
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** What the fullest host has in the end, to that with one host. */
  readonly ratio: number;
  readonly baseline: string;
}

interface Sample {
  readonly second: number;
  readonly hosts: number;
  readonly heapBytes: readonly number[];
  /** What was put, by the host where it is. */
  readonly dataBytes: readonly number[];
}

interface Course {
  readonly row: Row;
  readonly samples: readonly Sample[];
  readonly p50: readonly (readonly [number, number])[];
  readonly p99: readonly (readonly [number, number])[];
  readonly decisions: readonly { readonly second: number; readonly text: string }[];
}

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const findings = new Findings<Row>("kv-elastic", options);
  const seconds = options.quick ? 2 : 32;
  findings.progress("one host");
  const fixed = await course("one-host", 1, () => [], seconds, null);
  findings.add(fixed.row);
  findings.progress(`1 to ${HOSTS_MAX} hosts`);
  const doubling = keep({
    max: HOSTS_MAX,
    stateBytes: [BYTES_MAX / 10, BYTES_MAX],
    doubles: true,
    inARow: 2,
    coolDownMs: 2000,
  });
  const elastic = await course("elastic", HOSTS_MAX, doubling, seconds, fixed);
  findings.add(elastic.row);
  await draw(findings, fixed, elastic);
}

async function course(
  name: string,
  max: number,
  policy: Policy,
  seconds: number,
  other: Course | null,
): Promise<Course> {
  const decisions: { second: number; text: string }[] = [];
  const samples: Sample[] = [];
  let beganMs = performance.now();
  const second = () => (performance.now() - beganMs) / 1000;
  const onDecision: ElasticHosts["onDecision"] = ({ text }) => decisions.push({ second: second(), text });
  const service = await run(Town, { module, hosts: { max, policy, onDecision } });
  try {
    const latencies = new Latencies();
    const filled = Array.from({ length: BUCKETS }, () => 0);
    beganMs = performance.now();
    const sampling = setInterval(() => samples.push(sampleOf(service, filled, second())), SAMPLE_MS);
    const puts = await grow(service, seconds, latencies, filled);
    clearInterval(sampling);
    await check(service, puts);
    const all = latencies.between(beganMs, performance.now());
    const row: Row = {
      case: name,
      hosts: max,
      puts,
      allBytes: puts * CHARACTERS,
      heapBytesMax: Math.max(...samples.map(({ heapBytes }) => fullest(heapBytes))),
      dataBytesMax: Math.max(...samples.map(({ dataBytes }) => fullest(dataBytes))),
      eventsPerSecond: all.count / seconds,
      p50Ms: all.quantile(0.5),
      p99Ms: all.quantile(0.99),
      ratio: other === null ? 1 : fullestAtEnd(samples) / fullestAtEnd(other.samples),
      baseline: "one-host",
    };
    const windows = latencies.windows(beganMs, beganMs + seconds * 1000, 1000);
    const over = (share: number) =>
      windows.map(({ atMs, ended }) => [(atMs - beganMs) / 1000, ended.quantile(share)] as const);
    return { row, samples, p50: over(0.5), p99: over(0.99), decisions };
  } finally {
    await service.stop();
  }
}

function fullest(bytes: readonly number[]): number {
  return Math.max(0, ...bytes);
}

function fullestAtEnd(samples: readonly Sample[]): number {
  return fullest(samples.at(-1)?.dataBytes ?? []);
}

/** Puts at a steady rate, and as many gets of what is there. Returns how many puts were made. */
async function grow(
  { root }: Service<Town>,
  seconds: number,
  latencies: Latencies,
  filled: number[],
): Promise<number> {
  const asked: Promise<unknown>[] = [];
  const beganMs = performance.now();
  let puts = 0;
  for (let nowMs = 0; nowMs < seconds * 1000; nowMs = performance.now() - beganMs) {
    const due = Math.min(seconds * PUTS_PER_SECOND, (nowMs * PUTS_PER_SECOND) / 1000);
    for (; puts < due; puts++) {
      const [put, got] = [puts, Math.floor(puts / 2)];
      filled[put % BUCKETS] = (filled[put % BUCKETS] ?? 0) + CHARACTERS;
      asked.push(
        latencies.time(() => root.buckets(put % BUCKETS).put(`key ${put}`, textOf(put, CHARACTERS))),
      );
      asked.push(latencies.time(() => root.buckets(got % BUCKETS).get(`key ${got}`)));
    }
    await sleep(TURN_MS);
  }
  await Promise.all(asked);
  return puts;
}

async function check({ root }: Service<Town>, puts: number): Promise<void> {
  let entries = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) entries += await root.buckets(bucket).size();
  if (entries !== puts) throw new Error(`the store has ${entries} entries instead of ${puts}.`);
}

function sampleOf(service: Service<Town>, filled: readonly number[], second: number): Sample {
  const hosts = hostsOf(service);
  const data = new Map<number, number>();
  for (const [bucket, bytes] of filled.entries()) {
    const host = hosts.where(service.root.buckets(bucket));
    data.set(host, (data.get(host) ?? 0) + bytes);
  }
  const running = hosts.list().filter(({ state }) => state !== "starting");
  return {
    second,
    hosts: running.length,
    heapBytes: running.map(({ load }) => load?.heapBytes ?? 0),
    dataBytes: [...data.values()],
  };
}

async function draw(findings: Findings<Row>, fixed: Course, elastic: Course): Promise<void> {
  const x = { label: "time, s" };
  const over = ({ samples }: Course, value: (sample: Sample) => number) =>
    samples.map((sample) => [sample.second, value(sample)] as const);
  const data = (sample: Sample) => fullest(sample.dataBytes) / 1e6;
  const heap = (sample: Sample) => fullest(sample.heapBytes) / 1e6;
  const bound = [0, fixed.samples.at(-1)?.second ?? 1].map((second) => [second, BYTES_MAX / 1e6] as const);
  const marks = elastic.decisions
    .filter(({ text }) => /added/.test(text))
    .map(({ second, text }) => ({ x: second, text: text.split(":")[0] ?? "" }));
  await findings.draw(
    {
      "kv-elastic": {
        title: "A store that grows is spread over more hosts before one is full",
        note:
          `${PUTS_PER_SECOND} puts of ${CHARACTERS / 1000} kB and as many gets a second, ${BUCKETS} buckets. When the contexts of hosts have ` +
          `more than ${BYTES_MAX / 1e6} MB on average, the number of hosts is doubled, up to ${HOSTS_MAX}. A heap also holds garbage.`,
        panels: [
          {
            title: "The fullest host",
            x,
            y: { label: "MB", min: 0 },
            lines: [
              { name: "one host: data", points: over(fixed, data), colour: 1 },
              { name: "one host: heap", points: over(fixed, heap), dashed: true, colour: 1 },
              { name: "elastic: data", points: over(elastic, data), colour: 0 },
              { name: "elastic: heap", points: over(elastic, heap), dashed: true, colour: 0 },
              { name: "bound", points: bound, colour: 5, steps: true },
            ],
            marks,
          },
          {
            title: "Latency of puts and gets",
            x,
            y: { label: "ms", log: true },
            lines: [
              { name: "one host, p99", points: fixed.p99, dashed: true, colour: 1 },
              { name: "elastic, p99", points: elastic.p99, colour: 0 },
              { name: "one host, p50", points: fixed.p50, dashed: true, colour: 4 },
              { name: "elastic, p50", points: elastic.p50, colour: 2 },
            ],
          },
          {
            title: "Hosts",
            x,
            y: { label: "hosts", min: 0, max: HOSTS_MAX },
            lines: [
              {
                name: "elastic",
                points: over(elastic, ({ hosts }) => hosts),
                steps: true,
                colour: 0,
              },
            ],
          },
        ],
      },
    },
    { fixed, elastic },
  );
}
