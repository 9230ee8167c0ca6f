import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Context, run } from "headwater";
import { optionsFrom } from "./lib/options.js";

/**
 * What logical nodes and contexts cost, idle and after one event each, in bytes of the heap and in microseconds of
 * processor time, beside plain objects in a Map; and what finding one of many nodes costs beside finding one of ten.
 */

const FULL = { rounds: 10_000, warmUpMs: 0, roundMs: 0 };
const QUICK = { rounds: 1_000, warmUpMs: 0, roundMs: 0 };
const FEW = 10;
const LOOKUPS = 20_000;
const LOOKUP_FACTOR_MAX = 2;

class Counter extends Context<number> {
  count = 0;

  bump() {
    this.count += 1;
    return this.count;
  }
}

class Node extends Context {
  counters = this.children(Counter);
  count = 0;

  bump() {
    this.count += 1;
    return this.count;
  }

  look(name: string, times: number) {
    for (let i = 0; i < times; i++) this.event.peer(Node, name);
  }
}

interface Cost {
  readonly case: string;
  readonly baseline: string;
  readonly count: number;
  /** Of the heap; null where nothing is kept. */
  readonly bytes: number | null;
  readonly microseconds: number;
  /** Microseconds over those of the baseline. */
  readonly ratio: number;
}

export async function main(args: readonly string[]): Promise<void> {
  const { json, effort } = optionsFrom(args, FULL, QUICK);
  const count = effort.events ?? effort.rounds;
  const costs = [...(await keeping(count)), ...(await finding(count))];
  for (const cost of costs)
    process.stdout.write(json ? `${JSON.stringify({ bench: "nodes", ...cost })}\n` : line(cost));
  for (const { case: name, baseline, ratio } of costs.filter(
    (cost) => cost.bytes === null && cost.case !== cost.baseline,
  )) {
    const verdict = ratio <= LOOKUP_FACTOR_MAX ? "met" : "MISSED";
    const goal = `${name} costs at most ${LOOKUP_FACTOR_MAX} times as much as ${baseline}`;
    process.stderr.write(`nodes: ${verdict}: ${goal}: ${ratio.toFixed(2)} times\n`);
  }
}

async function keeping(count: number): Promise<Cost[]> {
  const names = namesOf(count);
  const costs: Cost[] = [];
  const add = (name: string, { bytes, microseconds }: Used) => {
    const of = { case: name, baseline: "object-in-map", count };
    const per = microseconds / count;
    costs.push({
      ...of,
      bytes: bytes / count,
      microseconds: per,
      ratio: per / (costs[0]?.microseconds ?? per),
    });
  };
  const objects = new Map<string, { count: number }>();
  const fill = () => {
    for (const name of names) objects.set(name, { count: 0 });
  };
  add("object-in-map", await used(fill));

  let service = await programOf(1);
  await service.stop();
  add("node-idle", await used(async () => void (service = await programOf(count))));
  add(
    "node-used",
    await used(async () => void (await Promise.all(names.map((name) => service.nodes[name]?.bump())))),
  );
  await service.stop();

  const [one] = namesOf(1);
  const tree = await programOf(1);
  const bumps = () => names.map((_, key) => tree.nodes[one ?? ""]?.counters(key).bump());
  add("context-used", await used(async () => void (await Promise.all(bumps()))));
  add("context-again", await used(async () => void (await Promise.all(bumps()))));
  await tree.stop();
  if (objects.size !== count) throw new Error("the objects are gone");
  return costs;
}

async function finding(count: number): Promise<Cost[]> {
  const few = await findingIn(FEW);
  const many = await findingIn(count);
  return (["as", "peer"] as const).flatMap((what) => {
    const baseline = `find-${what}-of-${FEW}`;
    return [
      { case: baseline, baseline, count: FEW, bytes: null, microseconds: few[what], ratio: 1 },
      {
        case: `find-${what}-of-${count}`,
        baseline,
        count,
        bytes: null,
        microseconds: many[what],
        ratio: many[what] / few[what],
      },
    ];
  });
}

async function findingIn(count: number): Promise<{ readonly as: number; readonly peer: number }> {
  const service = await programOf(count);
  const last = namesOf(count).at(-1) ?? "";
  const as = () => {
    for (let i = 0; i < LOOKUPS; i++) service.as({ client: "ada" }).nodes[last];
  };
  const peer = async () => void (await service.nodes[last]?.look(last, LOOKUPS));
  as();
  await peer();
  const perLookup = async (work: () => unknown) => (await used(work)).microseconds / LOOKUPS;
  const costs = { as: await perLookup(as), peer: await perLookup(peer) };
  await service.stop();
  return costs;
}

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `node ${i}`);
}

function programOf(count: number) {
  const roots: Record<string, typeof Node> = Object.fromEntries(namesOf(count).map((name) => [name, Node]));
  return run(roots, { limits: { inFlight: Math.max(10_000, count) } });
}

interface Used {
  readonly bytes: number;
  readonly microseconds: number;
}

async function used(work: () => unknown): Promise<Used> {
  const before = heapBytes();
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return { bytes: heapBytes() - before, microseconds: user + system };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

function line({ case: name, bytes, microseconds, ratio }: Cost): string {
  const kept = bytes === null ? "" : `${Math.round(bytes)} bytes`;
  return `${name.padEnd(24)}${kept.padStart(14)}${microseconds.toFixed(2).padStart(12)} µs${ratio.toFixed(2).padStart(12)}\n`;
}
