import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Context, type Ref, readonly, run } from "headwater";
import { temporaryDirectory } from "./append-sync.js";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

class Counter extends Context<number> {
  count = 0;

  bump(work: number): number {
    spin(work);
    return ++this.count;
  }

  value(): number {
    return this.count;
  }
}

class ReadCounter extends Context<number> {
  count = 0;

  @readonly look(work: number): number {
    spin(work);
    return this.count;
  }
}

/** An event here spans three contexts: it enters a pair and calls both counters below. */
class Pair extends Context<number> {
  counters = this.children(Counter);

  async bumpBoth(work: number): Promise<number> {
    return (await this.counters(0).bump(work)) + (await this.counters(1).bump(work));
  }

  async value(): Promise<number> {
    return (await this.counters(0).value()) + (await this.counters(1).value());
  }
}

/** Opens when the parked events may finish. Each start of the parked case has a gate of its own. */
const gates: Promise<void>[] = [];

class Parking extends Context<number> {
  parked = 0;

  async park(gate: number): Promise<void> {
    this.parked++;
    await gates[gate];
  }
}

export class Root extends Context {
  counters = this.children(Counter);
  readCounters = this.children(ReadCounter);
  pairs = this.children(Pair);
  parking = this.children(Parking);
}

/** Makes one reference per context beforehand, as the baselines do, and enters each context once. */
async function references<R>(contexts: number, make: (key: number) => R, enter: (ref: R) => Promise<number>) {
  const refs = Array.from({ length: contexts }, (_, key) => make(key));
  const sum = async () => {
    let total = 0;
    for (const ref of refs) total += await enter(ref);
    return total;
  };
  await sum();
  return { refs, sum };
}

/** The counter of the paper's microbenchmark: a plain field, changed by every event. */
export async function startCounters(
  contexts: number,
  commitOrder: "observer" | "total" = "observer",
): Promise<Subject> {
  const service = await run(Root, { commitOrder });
  const { refs, sum } = await references(contexts, service.root.counters, (ref) => ref.value());
  return {
    call: (key, work) => (refs[key] as Ref<Counter>).bump(work),
    counted: sum,
    stop: () => service.stop(),
  };
}

export const startTotalOrder = (contexts: number) => startCounters(contexts, "total");

/** Names the context anew for each event, as most programs do. */
export async function startByKey(contexts: number): Promise<Subject> {
  const service = await run(Root);
  const { sum } = await references(contexts, service.root.counters, (ref) => ref.value());
  return {
    call: (key, work) => service.root.counters(key).bump(work),
    counted: sum,
    stop: () => service.stop(),
  };
}

/** The same with a journal in a directory of its own. */
export async function startDurable(
  contexts: number,
  durability: "synced" | "written" = "synced",
  history: { readonly history?: string } = {},
): Promise<Subject> {
  const directory = await temporaryDirectory();
  const service = await run(Root, { journal: join(directory, "journal"), durability, ...history });
  const { sum } = await references(contexts, service.root.counters, (ref) => ref.value());
  return {
    call: (key, work) => service.root.counters(key).bump(work),
    counted: sum,
    async stop() {
      await service.stop();
      await rm(directory, { recursive: true });
    },
  };
}

export async function startReads(contexts: number): Promise<Subject> {
  const service = await run(Root);
  const { refs, sum } = await references(contexts, service.root.readCounters, (ref) => ref.look(0));
  return {
    call: (key, work) => (refs[key] as Ref<ReadCounter>).look(work),
    counted: sum,
    stop: () => service.stop(),
  };
}

export async function startCallsBelow(contexts: number): Promise<Subject> {
  const service = await run(Root);
  const { refs, sum } = await references(contexts, service.root.pairs, (ref) => ref.value());
  return {
    call: (key, work) => (refs[key] as Ref<Pair>).bumpBoth(work),
    counted: sum,
    stop: () => service.stop(),
  };
}

/** The counters, while `unfinished` events have entered as many other contexts and wait there. */
export async function startBesideUnfinished(contexts: number, unfinished: number): Promise<Subject> {
  const service = await run(Root);
  const { refs, sum } = await references(contexts, service.root.counters, (ref) => ref.value());
  let open = () => {};
  const gate = gates.push(new Promise((resolve) => (open = resolve))) - 1;
  const parked: Promise<void>[] = [];
  for (let key = 0; key < unfinished; key++) parked.push(service.root.parking(key).park(gate));
  return {
    call: (key, work) => (refs[key] as Ref<Counter>).bump(work),
    counted: sum,
    async stop() {
      open();
      await Promise.all(parked);
      await service.stop();
    },
  };
}
