import { NatsServers } from "../../test/nats-servers.js";
import { Findings, figureOptions } from "../lib/figures.js";
import { Connection, requestOf } from "../lib/http-load.js";
import { percentile } from "../lib/percentile.js";
import { CONTEXTS } from "../programs/cluster-member.js";
import { Processes } from "./members.js";
import { RestateServers, restateInstalled } from "./restate-servers.js";

/**
 * The same work over HTTP, by turns: requests that each add one to one of 160 counters, asked of all three processes of a cluster of
 * Headwater, which keeps its log on three NATS servers, and of three servers of Restate. Both answer when a majority has the change.
 */

const PROCESSES = 3;
const [FULL, QUICK] = [
  { rounds: 5, inFlight: [1, 64, 512], ms: 4000 },
  { rounds: 1, inFlight: [1, 16], ms: 300 },
];

export interface RestateRow {
  readonly case: string;
  readonly inFlight: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly ratio?: number;
  readonly baseline?: string;
}

interface Side {
  readonly name: string;
  readonly ports: readonly number[];
  readonly requests: readonly Buffer[];
  asked: number;
}

export async function main(args: readonly string[]): Promise<void> {
  const options = figureOptions(args);
  const effort = options.quick ? QUICK : FULL;
  const findings = new Findings<RestateRow>("restate", { ...options, folder: null });
  // What is quick does not install 200 MB.
  const installed = options.quick ? null : await restateInstalled((line) => findings.progress(line));
  const nats = await NatsServers.start();
  const processes = new Processes(`${nats.address()}/bench`);
  let restate: RestateServers | null = null;
  try {
    for (let i = 0; i < PROCESSES; i++) await processes.start();
    const urls = await Promise.all(processes.all.map(({ joined }) => joined));
    const headwater: Side = {
      name: "headwater",
      ports: urls.map((url) => Number(new URL(url).port)),
      requests: keys((key) => requestOf("POST", "/api/bump", `[${key}]`, "application/json")),
      asked: 0,
    };
    const sides = [headwater];
    if (installed !== null) {
      restate = await RestateServers.start(installed);
      const requests = keys((key) => requestOf("POST", `/Counter/${key}/bump`, "0", "application/json"));
      sides.push({ name: "restate", ports: restate.ports, requests, asked: 0 });
    }
    for (const inFlight of effort.inFlight) await compare(findings, sides, inFlight, effort);
    await findings.draw({}, {});
    await check(headwater.asked, await Promise.all(processes.all.map((each) => each.counted())));
    for (const { asked } of sides.slice(1)) await check(asked, [await sumOf(restate)]);
  } finally {
    await restate?.stop();
    await processes.stop();
    await nats.stop();
  }
}

/** Rounds of all sides by turns; each side's requests per second beside those of Restate, round by round. */
async function compare(
  findings: Findings<RestateRow>,
  sides: readonly Side[],
  inFlight: number,
  { rounds, ms }: typeof FULL,
): Promise<void> {
  for (const side of sides) await drive(side, inFlight, ms / 4);
  const rates: number[][] = sides.map(() => []);
  const took: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, side] of sides.entries()) {
      const { perSecond, tookMs } = await drive(side, inFlight, ms);
      rates[i]?.push(perSecond);
      took[i]?.push(...tookMs);
    }
    const now = sides.map(({ name }, i) => `${name} ${rates[i]?.at(-1)?.toFixed(0)}`);
    findings.progress(`${inFlight} in flight, round ${round + 1} of ${rounds}: ${now.join(", ")} per second`);
  }
  const others = rates[1];
  for (const [i, { name }] of sides.entries()) {
    const own = rates[i] ?? [];
    const ratios = own.map((rate, round) => rate / (others?.[round] ?? Number.NaN));
    findings.add({
      case: `${name}-http`,
      inFlight,
      requestsPerSecond: percentile(own, 0.5),
      p50Ms: percentile(took[i] ?? [], 0.5),
      p99Ms: percentile(took[i] ?? [], 0.99),
      ...(i === 0 && others !== undefined
        ? { ratio: percentile(ratios, 0.5), baseline: "restate-http" }
        : {}),
    });
  }
}

/** Each connection asks again as soon as it has its answer. */
async function drive(side: Side, inFlight: number, ms: number) {
  const { ports, requests } = side;
  const connections = await Promise.all(
    Array.from({ length: inFlight }, (_, i) => Connection.open(ports[i % ports.length] as number)),
  );
  const tookMs: number[] = [];
  const began = performance.now();
  const asking = connections.map(async (connection) => {
    while (performance.now() - began < ms) {
      const request = requests[side.asked++ % requests.length] as Buffer;
      const askedMs = performance.now();
      const answer = await connection.ask(request);
      if (!answer.subarray(0, 12).toString().endsWith(" 200")) throw new Error(`it answered:\n${answer}`);
      tookMs.push(performance.now() - askedMs);
    }
    connection.close();
  });
  await Promise.all(asking);
  return { perSecond: (tookMs.length / (performance.now() - began)) * 1000, tookMs };
}

function keys(request: (key: number) => Buffer): Buffer[] {
  return Array.from({ length: CONTEXTS }, (_, key) => request(key));
}

async function sumOf(restate: RestateServers | null): Promise<number> {
  let sum = 0;
  for (let key = 0; key < CONTEXTS; key++) sum += (await restate?.counted(String(key))) ?? 0;
  return sum;
}

function check(asked: number, counted: readonly number[]): void {
  for (const count of counted)
    if (count !== asked) throw new Error(`${asked} requests were answered, and ${count} were counted.`);
}
