import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ref, run } from "headwater";
import type { Figure, Line } from "#src/chart/chart.js";
import program, {
  type AdServer,
  type Burst,
  REPORTS,
  type Report,
  SERVERS,
  type Strategy,
} from "../examples/ads.js";
import { Findings, figureOptions } from "./lib/figures.js";

/**
 * Figures 12 to 14 of Blazes: click records that a reporting server has processed over time, on hosts that are processes, with 5 and 10
 * ad servers, for each strategy. Ad servers log bursts at a pace of their own.
 */

const BURST = 50;
const PACE_MS = 40;
const JITTER_MS = 20;
const SAMPLE_MS = 20;
/** Of each case the fastest counts: whatever else the machine does makes one slower only. */
const ROUNDS = 3;
const ADS = 30;
const module = new URL("../examples/ads.ts", import.meta.url).href;

interface Case {
  readonly name: string;
  readonly strategy: Strategy;
  /** Whether all servers log clicks for all campaigns, or each for its own. */
  readonly isShared: boolean;
}

const CASES: readonly Case[] = [
  { name: "uncoordinated", strategy: "none", isShared: true },
  { name: "independent seals", strategy: "seal", isShared: false },
  { name: "shared seals", strategy: "seal", isShared: true },
  { name: "ordered", strategy: "order", isShared: true },
];

interface Row {
  readonly servers: number;
  readonly case: string;
  readonly clicks: number;
  readonly seconds: number;
  readonly clicksPerSecond: number;
  readonly ratio: number;
}

type Points = readonly (readonly [number, number])[];

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const findings = new Findings<Row>("ads", options);
  const bursts = options.quick ? 6 : 30;
  const figures: Record<string, Figure> = {};
  for (const [servers, number] of [
    [5, 12],
    [10, 13],
  ] as const) {
    const drawn = new Map<string, Points>();
    for (const each of CASES) {
      const rounds = options.quick || each.strategy === "order" ? 1 : ROUNDS;
      for (let round = 0; round < rounds; round++) {
        const points = await measured(each, servers, bursts);
        if (speedOf(points) > speedOf(drawn.get(each.name) ?? [])) drawn.set(each.name, points);
      }
    }
    const base = speedOf(drawn.get("uncoordinated") ?? []);
    for (const [name, points] of drawn) {
      const [seconds = 0, clicks = 0] = points.at(-1) ?? [];
      const clicksPerSecond = speedOf(points);
      findings.add({ servers, case: name, clicks, seconds, clicksPerSecond, ratio: clicksPerSecond / base });
    }
    judged(servers, drawn, base);
    const title = `Clicks processed over time, ${servers} ad servers (figure ${number} of Blazes)`;
    figures[`ads-${servers}`] = figureOf(title, drawn);
    if (servers !== 10) continue;
    const seals = new Map([...drawn].filter(([name]) => name.includes("seals")));
    figures["ads-seals"] = figureOf("Seals of one server, and of all 10 (figure 14 of Blazes)", seals);
  }
  await findings.draw(figures, {});
}

function judged(servers: number, drawn: ReadonlyMap<string, Points>, base: number): void {
  const ratio = (name: string) => speedOf(drawn.get(name) ?? []) / base;
  const goals: [string, boolean, number][] = [
    [
      "independent seals at least 0.9 of uncoordinated",
      ratio("independent seals") >= 0.9,
      ratio("independent seals"),
    ],
    ["shared seals within 1.3 times", ratio("shared seals") >= 1 / 1.3, 1 / ratio("shared seals")],
    ["ordered slower than half", ratio("ordered") < 0.5, ratio("ordered")],
  ];
  for (const [goal, isMet, figure] of goals)
    process.stderr.write(
      `ads: ${isMet ? "met" : "MISSED"}: ${servers} servers, ${goal}: ${figure.toFixed(2)}\n`,
    );
}

/** Clicks per second until the last one was processed. */
function speedOf(points: Points): number {
  const [seconds = 1, clicks = 0] = points.at(-1) ?? [];
  return clicks / seconds;
}

function figureOf(title: string, drawn: ReadonlyMap<string, Points>): Figure {
  const lines = [...drawn].map(([name, points]): Line => ({ name, points, steps: true }));
  const panel = { x: { label: "seconds", min: 0 }, y: { label: "clicks processed", min: 0 }, lines };
  return { title, panels: [panel] };
}

/** Ad servers and reporting servers over both hosts, the order on the first. */
const PIN = Object.fromEntries([...SERVERS, ...REPORTS, "Order"].map((name, i) => [name, i % 2]));

async function measured({ strategy, isShared }: Case, count: number, bursts: number): Promise<Points> {
  await using service = await run(program, {
    hosts: 2,
    hostsAs: "processes",
    module,
    placement: { pin: PIN },
  });
  const nodes: Readonly<Record<string, unknown>> = service.nodes;
  const servers = SERVERS.slice(0, count);
  const reports = REPORTS.map((name) => nodes[name] as Ref<Report>);
  const clicks = count * bursts * BURST;
  const points: [number, number][] = [[0, 0]];
  const began = performance.now();
  const load = Promise.all(
    servers.map(async (name, i) => {
      for (let burst = 0; burst < bursts; burst++) {
        await (nodes[name] as Ref<AdServer>).log(name, burstOf(burst, i, servers, isShared), strategy);
        await sleep(PACE_MS + ((7919 * (burst + 1) * (i + 1)) % JITTER_MS));
      }
    }),
  );
  for (let least = 0; least < clicks; ) {
    await sleep(SAMPLE_MS);
    least = Math.min(...(await Promise.all(reports.map((report) => report.count()))));
    points.push([(performance.now() - began) / 1000, least]);
  }
  await load;
  const campaigns = Array.from({ length: bursts }, (_, i) => String(i));
  const answers = await Promise.all(
    reports.map(async (report) => JSON.stringify(await report.poor(campaigns, 3))),
  );
  if (new Set(answers).size > 1) throw new Error("The replicas have different answers.");
  return points;
}

function burstOf(burst: number, server: number, servers: readonly string[], isShared: boolean): Burst {
  const name = servers[server] ?? "";
  return {
    campaign: isShared ? String(burst) : `${name} ${burst}`,
    ads: Array.from({ length: BURST }, (_, i) => `ad${(i * i + 31 * server + burst) % ADS}`),
    servers: isShared ? servers : [name],
  };
}
