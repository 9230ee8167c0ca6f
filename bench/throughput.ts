import { performance } from "node:perf_hooks";
import { type HostLoad, hostsOf, type Ref, run, type Service } from "headwater";
import { type Costs, type Scale, simulateScale } from "headwater/sim";
import type { Line } from "#src/chart/chart.js";
import { Driver } from "./lib/driver.js";
import { Findings, figureOptions } from "./lib/figures.js";
import type { Subject } from "./lib/subject.js";
import Town, { type Counter } from "./lib/town.js";
import { spin } from "./lib/work.js";

/**
 * Figure 14 of EventWave: events per second against the number of hosts, for several amounts of work P. One and two hosts
 * are real; beyond, the hosts are simulated in virtual time, with the real core and the costs measured here.
 */

const CONTEXTS = 160;
const IN_FLIGHT = 1024;
const WORK = [0, 10, 100, 1000];
const REAL_HOSTS = [1, 2];
const HOSTS = [1, 2, 4, 8, 16, 32, 64, 128];
const EVENTS_QUICK = 2000;
const ROUND_MS = 1000;
const ROUNDS = 5;
const module = new URL("./lib/town.ts", import.meta.url).href;

interface Row {
  readonly case: "real" | "simulated" | "simulated-hashed";
  readonly hosts: number;
  readonly work: number;
  readonly inFlight: number;
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly headUtilisation: number;
  /** To one host of the same kind, with the same work. */
  readonly ratio: number;
  readonly baseline: string;
}

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const findings = new Findings<Row>("throughput", options);
  const { costs, real } = await measureReal(options.quick, (line) => findings.progress(line));
  for (const row of real) findings.add(row);
  const works = WORK.map((work) => [work, work * unitMs()] as const);
  for (const [work, workMs] of works) {
    for (const row of simulated("simulated", work, workMs, costs, options.quick)) findings.add(row);
  }
  const [heaviest, heaviestMs] = works.at(-1) as (typeof works)[number];
  for (const row of simulated("simulated-hashed", heaviest, heaviestMs, costs, options.quick))
    findings.add(row);
  await draw(findings, costs);
  goals(findings);
}

interface Real {
  readonly costs: Costs;
  readonly real: readonly Row[];
}

/** One and two hosts side by side, in turns, so that a slow moment of the machine falls on both. */
async function measureReal(quick: boolean, progress: (line: string) => void): Promise<Real> {
  const services: Service<Town>[] = [];
  try {
    for (const hosts of REAL_HOSTS) {
      services.push(await run(Town, { hosts: { min: hosts, max: hosts, policy: () => [] }, module }));
    }
    const drivers = services.map(({ root }) => {
      const refs = Array.from({ length: CONTEXTS }, (_, key) => root.counters(key));
      return new Driver(subjectOf(refs), CONTEXTS);
    });
    for (const driver of drivers) await driver.drive(quick ? EVENTS_QUICK : 20_000, IN_FLIGHT, 0);
    const real: Row[] = [];
    for (const work of WORK) {
      progress(`real hosts, P = ${work}`);
      real.push(...(await measureWork(drivers, work, quick)));
    }
    const [first] = drivers;
    const [alone] = real; // one host, no work
    if (first === undefined || alone === undefined) throw new Error("there is nothing to measure.");
    const headMs = (alone.headUtilisation / alone.eventsPerSecond) * 1000;
    return { real, costs: await costsOf(first, services[0] as Service<Town>, headMs, quick) };
  } finally {
    for (const service of services) await service.stop();
  }
}

interface Round {
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly headUtilisation: number;
}

async function measureWork(drivers: readonly Driver[], work: number, quick: boolean): Promise<Row[]> {
  const rounds: Round[][] = drivers.map(() => []);
  const few = quick ? EVENTS_QUICK / 20 : 2000;
  const rates: number[] = [];
  for (const driver of drivers) rates.push((await driver.drive(few, IN_FLIGHT, work)).eventsPerSecond);
  for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
    for (const [i, driver] of drivers.entries()) {
      const events = quick ? few : Math.ceil(((rates[i] ?? 0) * ROUND_MS) / 1000);
      const loop = performance.eventLoopUtilization();
      const { eventsPerSecond, p50Ms, p99Ms } = await driver.drive(events, IN_FLIGHT, work);
      const { utilization } = performance.eventLoopUtilization(loop);
      rounds[i]?.push({ eventsPerSecond, p50Ms, p99Ms, headUtilisation: utilization });
    }
  }
  return rounds.map((own, i) => {
    const of = (name: keyof Round) => median(own.map((round) => round[name]));
    const ratios = own.map(
      ({ eventsPerSecond }, n) => eventsPerSecond / (rounds[0]?.[n]?.eventsPerSecond ?? Number.NaN),
    );
    return {
      case: "real",
      hosts: REAL_HOSTS[i] ?? 0,
      work,
      inFlight: IN_FLIGHT,
      eventsPerSecond: of("eventsPerSecond"),
      p50Ms: of("p50Ms"),
      p99Ms: of("p99Ms"),
      headUtilisation: of("headUtilisation"),
      ratio: median(ratios),
      baseline: "1 host",
    };
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** What an event takes besides its work: the head's share, the host's, and the way. */
async function costsOf(
  driver: Driver,
  service: Service<Town>,
  headMs: number,
  quick: boolean,
): Promise<Costs> {
  const { p50Ms } = await driver.drive(quick ? 50 : 400, 1, 0);
  const load = quick ? null : await busyLoad(driver, service);
  const hostMs = load === null ? headMs : (load.utilisation / load.eventsPerSecond) * 1000;
  const wireMs = Math.max(0.001, (p50Ms - headMs - hostMs) / 2);
  return { headInMs: headMs / 2, headOutMs: headMs / 2, hostMs, wireMs };
}

/** What the host says of itself, about once a second, while it has much to do; the least busy of a few. */
async function busyLoad(driver: Driver, service: Service<Town>): Promise<HostLoad | null> {
  const seen = new Set<HostLoad>();
  const untilMs = performance.now() + 4 * ROUND_MS;
  while (performance.now() < untilMs) {
    await driver.drive(10_000, IN_FLIGHT, 0);
    const load = hostsOf(service).list()[0]?.load;
    if (load) seen.add(load);
  }
  const full = [...seen].slice(1); // the first was measured before all this
  return (
    full.toSorted((a, b) => a.utilisation / a.eventsPerSecond - b.utilisation / b.eventsPerSecond)[0] ?? null
  );
}

function subjectOf(refs: readonly Ref<Counter>[]): Subject {
  return {
    call: (key, work) => (refs[key] as Ref<Counter>).bump(work),
    counted: async () => 0,
    stop: async () => {},
  };
}

let unit = 0;

/** How long a unit of work takes here when nobody interrupts it: the least of many short tries. */
function unitMs(): number {
  if (unit > 0) return unit;
  const tries = Array.from({ length: 50 }, () => {
    const beganMs = performance.now();
    spin(1000);
    return (performance.now() - beganMs) / 1000;
  });
  unit = Math.min(...tries);
  return unit;
}

function simulated(kind: Row["case"], work: number, workMs: number, costs: Costs, quick: boolean): Row[] {
  const spread = kind === "simulated" ? "even" : "hashed";
  const all: Scale[] = HOSTS.map((hosts) =>
    simulateScale({
      hosts,
      workMs,
      costs,
      inFlight: IN_FLIGHT,
      spread,
      ...(quick ? { events: EVENTS_QUICK } : {}),
    }),
  );
  return all.map(({ hosts, eventsPerSecond, p50Ms, p99Ms, headUtilisation }) => ({
    case: kind,
    hosts,
    work,
    inFlight: IN_FLIGHT,
    eventsPerSecond,
    p50Ms,
    p99Ms,
    headUtilisation,
    ratio: eventsPerSecond / (all[0]?.eventsPerSecond ?? Number.NaN),
    baseline: "1 host",
  }));
}

async function draw(findings: Findings<Row>, costs: Costs): Promise<void> {
  const lines = (
    kind: Row["case"],
    value: (row: Row) => number,
    names = (work: number) => `P = ${work}`,
  ): Line[] =>
    WORK.map((work, colour) => ({
      name: names(work),
      colour,
      dashed: kind === "simulated",
      dots: kind === "real",
      points: findings.rows.flatMap((row) =>
        row.case === kind && row.work === work ? [[row.hosts, value(row)] as const] : [],
      ),
    }));
  const hashed: Line = {
    name: "P = 1000, placed by hashing alone",
    colour: 5,
    points: findings.rows.flatMap((row) =>
      row.case === "simulated-hashed" ? [[row.hosts, row.eventsPerSecond] as const] : [],
    ),
  };
  const x = { label: "hosts", log: true };
  const headMs = costs.headInMs + costs.headOutMs;
  await findings.draw(
    {
      throughput: {
        title: "Throughput against hosts: one and two real ones, up to 128 simulated",
        note:
          `Events choose one of ${CONTEXTS} contexts in turn and do P units of work. Dots: real hosts (threads, 2 cores). ` +
          `Dashed: simulated hosts with the real core; an event takes ${(headMs * 1000).toFixed(1)} µs of the head and ` +
          `${(costs.hostMs * 1000).toFixed(1)} µs of a host besides its work, as measured in the same run.`,
        panels: [
          {
            title: "Throughput",
            x,
            y: { label: "events per second", log: true },
            lines: [
              ...lines("simulated", ({ eventsPerSecond }) => eventsPerSecond),
              hashed,
              ...lines(
                "real",
                ({ eventsPerSecond }) => eventsPerSecond,
                (work) => `P = ${work}, real`,
              ),
            ],
          },
          {
            title: "How busy the head is (simulated)",
            x,
            y: { label: "part of its time", min: 0, max: 1 },
            lines: lines("simulated", ({ headUtilisation }) => headUtilisation),
          },
        ],
      },
    },
    { costs, unitMs: unitMs() },
  );
}

function goals({ rows, progress, bench }: Findings<Row>): void {
  const of = (kind: Row["case"], hosts: number, work: number) =>
    rows.find((row) => row.case === kind && row.hosts === hosts && row.work === work)?.eventsPerSecond ??
    Number.NaN;
  const say = (line: string) => progress.call({ bench }, line);
  const drop = of("simulated", 128, 0) / of("simulated", 1, 0);
  say(
    `${drop >= 0.98 ? "met" : "MISSED"}: without work, 128 hosts do not get less done than one: ${drop.toFixed(2)} times`,
  );
  for (const work of [100, 1000]) {
    const off =
      of("simulated", 2, work) / of("simulated", 1, work) / (of("real", 2, work) / of("real", 1, work));
    say(`simulated over real speed-up from 1 to 2 hosts with P = ${work}: ${off.toFixed(2)}`);
  }
}
