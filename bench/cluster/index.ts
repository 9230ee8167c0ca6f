import { parseArgs } from "node:util";
import { jetstreamManager } from "@nats-io/jetstream";
import { NatsServers } from "../../test/nats-servers.js";
import { Findings, figureOptions } from "../lib/figures.js";
import { percentile } from "../lib/percentile.js";
import { gatewayKills, headKills } from "./kills.js";
import { type MemberProcess, Processes } from "./members.js";
import { Publishing } from "./publishing.js";
import { aroundChanges } from "./timeline.js";

/**
 * Three NATS servers that sync each message, and three processes with one program, all on this machine. The processes count: 1,024
 * events in flight, a third of them at each; beside what JetStream publishes by itself in messages with as many bytes and as many events.
 * Then one event in flight, beside one synced publish; then processes are killed.
 */

const PROCESSES = 3;
const IN_FLIGHT = 1024;
/** As many messages as a head has in flight. */
const MESSAGES_IN_FLIGHT = 8;
const [FULL, QUICK] = [
  { rounds: 7, events: 60_000, singles: 400, publishMs: 1500, kills: 3 },
  { rounds: 1, events: 1500, singles: 20, publishMs: 200, kills: 1 },
];

export interface ClusterRow {
  readonly case: string;
  readonly inFlight?: number;
  readonly eventsPerSecond?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly bytesPerEvent?: number;
  readonly kills?: number;
  readonly ratio?: number;
  readonly baseline?: string;
}

export async function main(args: readonly string[]): Promise<void> {
  const { kills: wanted, others } = withoutKills(args);
  const options = figureOptions(others);
  const effort = options.quick ? QUICK : FULL;
  const kills = wanted ?? effort.kills;
  const findings = new Findings<ClusterRow>("cluster", options);
  const servers = await NatsServers.start();
  const journal = `${servers.address()}/bench`;
  const processes = new Processes(journal);
  try {
    const connection = await servers.connect();
    try {
      const publishing = await Publishing.open(connection);
      for (let i = 0; i < PROCESSES; i++) await processes.start();
      const manager = await jetstreamManager(connection);
      const logBytes = async () => (await manager.streams.info("HEADWATER_bench")).state.bytes;
      await many(findings, processes, publishing, effort, logBytes);
      await single(findings, processes, publishing, effort);
      findings.add(await headKills(processes, journal, kills));
      findings.add(await gatewayKills(processes, kills));
      const share = Math.ceil(effort.events / PROCESSES);
      const asked = (effort.rounds + 1) * share * PROCESSES + 2 * effort.rounds * effort.singles + 2 * kills;
      for (const each of processes.all) {
        const counted = await each.counted();
        if (counted !== asked) throw new Error(`${asked} events were answered, and ${counted} were counted.`);
      }
      const figure = options.folder === null ? null : await aroundChanges(processes, journal);
      await findings.draw(figure === null ? {} : { cluster: figure }, {});
    } finally {
      await connection.close();
    }
  } finally {
    await processes.stop();
    await servers.stop();
  }
  for (const { what, isMet, figure } of goalsOf(findings.rows))
    findings.progress(`${isMet ? "met" : "MISSED"}: ${what}: ${figure}`);
}

type Effort = typeof FULL;

/** 1,024 in flight. */
async function many(
  findings: Findings<ClusterRow>,
  processes: Processes,
  publishing: Publishing,
  { rounds, events, publishMs }: Effort,
  logBytes: () => Promise<number>,
): Promise<void> {
  const share = Math.ceil(events / PROCESSES);
  const inFlight = Math.floor(IN_FLIGHT / PROCESSES);
  const drive = async () => {
    const began = performance.now();
    const measured = await Promise.all(
      processes.all.map((each, i) => each.drive(share, i === 0 ? IN_FLIGHT - 2 * inFlight : inFlight)),
    );
    const seconds = (performance.now() - began) / 1000;
    return { measured, perSecond: (share * PROCESSES) / seconds }; // of all, until the last has ended
  };
  await drive(); // warm up
  const [own, alone, ratios, p50, p99]: number[][] = [[], [], [], [], []];
  let bytesPerEvent = 0;
  for (let round = 0; round < rounds; round++) {
    const bytesBefore = await logBytes();
    const { measured, perSecond } = await drive();
    bytesPerEvent = ((await logBytes()) - bytesBefore) / (share * PROCESSES);
    const perMessage = IN_FLIGHT / MESSAGES_IN_FLIGHT;
    const bytes = Math.round(bytesPerEvent * perMessage);
    const published = await publishing.run(bytes, MESSAGES_IN_FLIGHT, publishMs);
    own?.push(perSecond);
    alone?.push(published.perSecond * perMessage);
    ratios?.push(perSecond / (published.perSecond * perMessage));
    p50?.push(...measured.map((each) => each.p50Ms));
    p99?.push(...measured.map((each) => each.p99Ms));
    findings.progress(`round ${round + 1} of ${rounds}: ${perSecond.toFixed(0)} events per second`);
  }
  const median = (values: readonly number[] = []) => percentile(values, 0.5);
  findings.add({
    case: "jetstream-batched",
    inFlight: IN_FLIGHT,
    eventsPerSecond: median(alone),
    bytesPerEvent,
  });
  findings.add({
    case: "headwater-cluster",
    inFlight: IN_FLIGHT,
    eventsPerSecond: median(own),
    p50Ms: median(p50),
    p99Ms: median(p99),
    bytesPerEvent,
    ratio: median(ratios),
    baseline: "jetstream-batched",
  });
}

/** One in flight: at the head, and at another process. */
async function single(
  findings: Findings<ClusterRow>,
  processes: Processes,
  publishing: Publishing,
  { rounds, singles, publishMs }: Effort,
): Promise<void> {
  const { head, others } = await processes.roles();
  const cases = { head, gateway: others[0] as MemberProcess };
  const alone: number[] = [];
  const own: Record<string, number[]> = { head: [], gateway: [] };
  for (let round = 0; round < rounds; round++) {
    alone.push((await publishing.run(150, 1, publishMs)).p50Ms);
    for (const [name, member] of Object.entries(cases))
      own[name]?.push((await member.drive(singles, 1)).p50Ms);
  }
  const baseline = "jetstream-one";
  findings.add({ case: baseline, inFlight: 1, p50Ms: percentile(alone, 0.5) });
  for (const [name, took] of Object.entries(own)) {
    const ratio = percentile(
      took.map((ms, i) => ms / (alone[i] ?? Number.NaN)),
      0.5,
    );
    findings.add({
      case: `headwater-one-at-${name}`,
      inFlight: 1,
      p50Ms: percentile(took, 0.5),
      ratio,
      baseline,
    });
  }
}

function withoutKills(args: readonly string[]) {
  const at = args.indexOf("--kills");
  if (at < 0) return { kills: undefined, others: args };
  const { values } = parseArgs({ args: args.slice(at, at + 2), options: { kills: { type: "string" } } });
  const kills = Number(values.kills);
  if (!Number.isSafeInteger(kills) || kills < 1)
    throw new Error(`--kills takes a whole number, not "${values.kills}".`);
  return { kills, others: [...args.slice(0, at), ...args.slice(at + 2)] };
}

function goalsOf(rows: readonly ClusterRow[]) {
  const at = (name: string) => rows.find((row) => row.case === name);
  const most = (what: string, name: string, field: "p99Ms" | "ratio", max: number) => {
    const figure = at(name)?.[field] ?? Number.NaN;
    return { what, isMet: figure <= max, figure: figure.toPrecision(3) };
  };
  const least = (what: string, name: string, field: "eventsPerSecond" | "ratio", min: number) => {
    const figure = at(name)?.[field] ?? Number.NaN;
    return { what, isMet: figure >= min, figure: figure.toPrecision(3) };
  };
  return [
    least("60,000 durable events per second", "headwater-cluster", "eventsPerSecond", 60_000),
    least("0.2 of JetStream's batched publish rate", "headwater-cluster", "ratio", 0.2),
    most("one event takes at most two synced publishes", "headwater-one-at-gateway", "ratio", 2),
    most("a killed head is replaced within 3 s (p99)", "head-killed", "p99Ms", 3000),
    most("a killed gateway's callers are answered within 3 s (p99)", "gateway-killed", "p99Ms", 3000),
  ];
}
