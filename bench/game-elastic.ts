import { type ElasticHosts, hostsOf, keep, type Policy, run, type Service } from "headwater";
import { Findings, figureOptions } from "./lib/figures.js";
import { Latencies, sleep } from "./lib/latencies.js";
import Town from "./lib/town.js";

/**
 * Figure 19 of EventWave: players come and go in three periods. In the second one hosts are added and removed as the load
 * wants; in the others there is one. A move keeps its host from doing anything else, but uses no processor, so that four
 * hosts do four times as much as one also where there are fewer cores.
 */

const PERIODS = 3;
const ELASTIC_PERIOD = 1;
const PERIOD_SECONDS = 40;
const PLAYERS_MAX = 90;
const BUILDINGS = 24;
const ROOMS = 4;
/** What a player waits between two moves, and what a move costs. */
const THINK_MS = 100;
const MOVE_MS = 3;
const HOSTS_MAX = 4;
const module = new URL("./lib/town.ts", import.meta.url).href;

interface Row {
  readonly case: string;
  readonly period: number;
  readonly hosts: number;
  readonly events: number;
  readonly eventsPerSecond: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly hostSeconds: number;
  /** The mean latency of the middle of the period, when most players are there, to that of the first period. */
  readonly ratio: number;
  readonly baseline: string;
}

interface Sample {
  readonly second: number;
  readonly hosts: number;
  readonly players: number;
}

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const findings = new Findings<Row>("game-elastic", options);
  const periodMs = options.quick ? 600 : PERIOD_SECONDS * 1000;
  const periodAt = (ms: number) => Math.min(PERIODS - 1, Math.floor(ms / periodMs));
  const decisions: { second: number; text: string }[] = [];
  let beganMs = performance.now();
  const policy = inPeriod(() => periodAt(performance.now() - beganMs) === ELASTIC_PERIOD);
  const onDecision: ElasticHosts["onDecision"] = ({ text }) =>
    decisions.push({ second: (performance.now() - beganMs) / 1000, text });
  const service = await run(Town, { module, hosts: { min: 1, max: HOSTS_MAX, policy, onDecision } });
  try {
    const world = new World(service);
    await world.warmUp(options.quick ? 50 : 1000);
    const samples: Sample[] = [];
    beganMs = performance.now();
    for (let ms = 0; ms < PERIODS * periodMs; ms = performance.now() - beganMs) {
      world.players = playersAt((ms % periodMs) / periodMs);
      samples.push({ second: ms / 1000, hosts: runningIn(service), players: world.players });
      if (samples.length % 20 === 1) {
        findings.progress(
          `${(ms / 1000).toFixed(0)} s, ${world.players} players, ${samples.at(-1)?.hosts} hosts`,
        );
      }
      await sleep(Math.min(250, periodMs / 10));
    }
    await world.empty();
    for (const row of rowsOf(world, samples, beganMs, periodMs)) findings.add(row);
    await draw(findings, world, samples, decisions, beganMs, periodMs);
  } finally {
    await service.stop();
  }
}

function runningIn(service: Service<Town>): number {
  return hostsOf(service)
    .list()
    .filter(({ state }) => state !== "starting").length;
}

/** Keeps hosts busy between bounds while it is on; else goes back to one host. */
function inPeriod(isOn: () => boolean): Policy {
  const own = keep({
    min: 1,
    max: HOSTS_MAX,
    utilisation: [0.2, 0.5],
    inARow: 1,
    coolDownMs: 1000,
    doubles: true,
  });
  return (now) => {
    if (isOn()) return own(now);
    const [first, second] = now.hosts.filter(({ state }) => state === "running");
    if (first === undefined || second === undefined) return [];
    return [{ kind: "remove", host: second.id, reason: "the policy is switched off" }];
  };
}

/** A bell: few in the beginning and the end of a period. */
function playersAt(part: number): number {
  return Math.round(PLAYERS_MAX * Math.exp(-(((part - 0.5) / 0.22) ** 2)));
}

class World {
  readonly latencies = new Latencies();
  players = 0;
  readonly #service: Service<Town>;
  readonly #playing = new Map<number, Promise<void>>();

  constructor(service: Service<Town>) {
    this.#service = service;
    for (let player = 0; player < PLAYERS_MAX; player++) this.#playing.set(player, this.#play(player));
  }

  #isOver = false;

  /** Everybody plays, as long as there are to be so many. */
  async #play(player: number): Promise<void> {
    let room = player % ROOMS;
    let seed = player + 1;
    while (!this.#isOver) {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      if (player < this.players) {
        const next = (seed >>> 8) % ROOMS;
        const building = this.#service.root.buildings((seed >>> 12) % BUILDINGS);
        const from = room;
        await this.latencies.time(() => building.go(from, next, MOVE_MS));
        room = next;
      }
      await sleep(THINK_MS * (0.5 + (seed % 1024) / 1024));
    }
  }

  async warmUp(ms: number): Promise<void> {
    this.players = 4;
    await sleep(ms);
    this.players = 0;
    await this.#service.idle();
  }

  async empty(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#playing.values());
  }
}

function rowsOf({ latencies }: World, samples: readonly Sample[], beganMs: number, periodMs: number): Row[] {
  const middle = (period: number) =>
    latencies.between(beganMs + (period + 0.35) * periodMs, beganMs + (period + 0.65) * periodMs).mean;
  return Array.from({ length: PERIODS }, (_, period) => {
    const all = latencies.between(beganMs + period * periodMs, beganMs + (period + 1) * periodMs);
    const own = samples.filter(({ second }) => Math.floor((second * 1000) / periodMs) === period);
    const hosts = own.map((sample) => sample.hosts);
    return {
      case: period === ELASTIC_PERIOD ? "elastic" : "one-host",
      period: period + 1,
      hosts: Math.max(...hosts),
      events: all.count,
      eventsPerSecond: (all.count * 1000) / periodMs,
      meanMs: all.mean,
      p50Ms: all.quantile(0.5),
      p99Ms: all.quantile(0.99),
      hostSeconds: (hosts.reduce((sum, count) => sum + count, 0) / hosts.length) * (periodMs / 1000),
      ratio: middle(period) / middle(0),
      baseline: "period 1",
    };
  });
}

async function draw(
  findings: Findings<Row>,
  { latencies }: World,
  samples: readonly Sample[],
  decisions: readonly { second: number; text: string }[],
  beganMs: number,
  periodMs: number,
): Promise<void> {
  const x = { label: "time, s" };
  const windows = latencies.windows(beganMs, beganMs + PERIODS * periodMs, periodMs / 40);
  const over = (value: (each: (typeof windows)[number]["ended"]) => number) =>
    windows.flatMap(({ atMs, ended }) =>
      ended.count === 0 ? [] : [[(atMs - beganMs) / 1000, value(ended)] as const],
    );
  const marks = Array.from({ length: PERIODS }, (_, period) => ({
    x: ((period + 0.5) * periodMs) / 1000,
    text: period === ELASTIC_PERIOD ? "elastic" : "one host",
  }));
  const lines = {
    latencies: { mean: over(({ mean }) => mean), p99: over((each) => each.quantile(0.99)) },
    samples,
    decisions,
  };
  await findings.draw(
    {
      "game-elastic": {
        title: "Players come and go; in the second period, hosts do too",
        note:
          `Up to ${PLAYERS_MAX} players go from room to room in ${BUILDINGS} buildings, each every ${THINK_MS} ms or so; a move ` +
          `blocks its host for ${MOVE_MS} ms without using a processor, so that each host is as good as a small machine of its own.`,
        panels: [
          {
            title: "Latency of a player's moves",
            x,
            y: { label: "ms", log: true },
            lines: [
              { name: "mean", points: lines.latencies.mean, colour: 0 },
              { name: "p99", points: lines.latencies.p99, colour: 1, dashed: true },
            ],
            marks,
          },
          {
            title: "Hosts",
            x,
            y: { label: "hosts", min: 0, max: HOSTS_MAX },
            lines: [
              {
                name: "hosts",
                points: samples.map(({ second, hosts }) => [second, hosts] as const),
                steps: true,
                colour: 2,
              },
            ],
          },
          {
            title: "Players",
            x,
            y: { label: "players", min: 0 },
            lines: [
              {
                name: "players",
                points: samples.map(({ second, players }) => [second, players] as const),
                colour: 3,
              },
            ],
          },
        ],
      },
    },
    lines,
  );
}
