import assert from "node:assert/strict";
import { test } from "node:test";
import { Context, MemoryJournal, readonly, type Service } from "headwater";
import { memoryPorts } from "#src/host/ports/ports.js";
import { runOn } from "#src/host/run.js";
import { Ledger } from "#src/host/store/ledger.js";
import { DOOR, type RelaySeries } from "#src/model/door.js";
import { Random } from "#src/random.js";

/**
 * Generated gateways that relay requests to heads, which end and are followed by others on the same journal. Answers get lost on the
 * link, and what has no answer is sent again over the next link: each request has its effect once, and its answer stays the same.
 */

class Mark extends Context<string> {
  times = 0;

  begin(): void {
    this.times += 1;
  }

  @readonly read(): number {
    return this.times;
  }
}

class Tally extends Context {
  counts = new Map<string, number>();
  marks = this.children(Mark);

  apply(id: string): string {
    this.counts.set(id, (this.counts.get(id) ?? 0) + 1);
    return `${id} ${this.counts.size}`;
  }

  fail(id: string): void {
    throw new Error(id);
  }

  @readonly allCounts(): Map<string, number> {
    return this.counts;
  }

  @readonly look(_id: string): number {
    return this.counts.size;
  }

  /** Reads, and starts an event: that must begin once. */
  @readonly lookAndStart(id: string): number {
    this.event.start(this.marks(id)).begin();
    return this.counts.size;
  }
}

type MethodName = "apply" | "fail" | "look" | "lookAndStart";
const METHODS: readonly MethodName[] = ["apply", "apply", "apply", "fail", "look", "lookAndStart"];

interface Request {
  readonly number: number;
  readonly method: MethodName;
  readonly id: string;
  /** The first answer that the head gave. */
  told: string | null;
  isAnswered: boolean;
}

class GatewayModel {
  readonly requests: Request[] = [];
  link: RelaySeries | null = null;
  links = 0;
  sentUpTo = 0;

  constructor(readonly name: string) {}

  get below(): number {
    return this.requests.find(({ isAnswered }) => !isAnswered)?.number ?? this.requests.length + 1;
  }
}

class World {
  readonly random: Random;
  readonly journal = new MemoryJournal();
  readonly gateways = ["gateway:a", "gateway:b", `gateway:${"x".repeat(300)}`].map(
    (name) => new GatewayModel(name),
  );
  service: Service<Tally>;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.service = begun(this.journal);
    for (const gateway of this.gateways) this.#connect(gateway);
  }

  #connect(gateway: GatewayModel): void {
    gateway.link?.leave();
    gateway.links += 1;
    gateway.link = this.service[DOOR].relay(gateway.name, { caller: "the cluster", part: gateway.name });
    gateway.sentUpTo = gateway.requests.length;
    for (const request of gateway.requests) if (!request.isAnswered) this.#send(gateway, request);
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const gateway = this.random.pick(this.gateways);
      const choice = this.random.int(100);
      if (choice < 70) this.#ask(gateway);
      else if (choice < 80) gateway.link?.answered(gateway.below);
      else if (choice < 90) this.#connect(gateway);
      else if (choice < 93) await this.restart();
      if (this.random.chance(0.3)) await this.service.idle();
    }
  }

  async restart(): Promise<void> {
    await this.service.stop({ graceMs: 0 });
    this.service = begun(this.journal);
    for (const gateway of this.gateways) this.#connect(gateway);
  }

  /** Until every request has its answer, and the gateways have said so. */
  async finish(): Promise<void> {
    while (this.gateways.some((each) => each.below <= each.requests.length)) {
      for (const gateway of this.gateways) this.#connect(gateway);
      await this.service.idle();
    }
    for (const gateway of this.gateways) gateway.link?.answered(gateway.below);
    await this.service.root.marks("last").begin(); // what is forgotten goes with the next commit
    await this.service.stop();
  }

  #ask(gateway: GatewayModel): void {
    const number = gateway.requests.length + 1;
    const id = `${gateway.name} ${number}`;
    const request = { number, id, method: this.random.pick(METHODS), told: null, isAnswered: false };
    gateway.requests.push(request);
    this.#send(gateway, request);
  }

  #send(gateway: GatewayModel, request: Request): void {
    const [target] = [...this.service[DOOR].roots.values()];
    const method = target?.shape.methods.get(request.method);
    assert.ok(target && method && gateway.link);
    const { links } = gateway;
    const told = (answer: string) => {
      // What only reads may read something newer, as long as no answer came.
      if (request.method === "apply" || request.method === "fail") {
        request.told ??= answer;
        assert.equal(answer, request.told);
      }
      if (links === gateway.links && this.random.chance(0.7)) request.isAnswered = true;
    };
    gateway.link.ask(request.number, { target, method, args: [request.id] }, undefined, gateway.sentUpTo, {
      resolve: (value) => told(`${value}`),
      reject: (error) => {
        // The head has stopped: what came of it, the next one says.
        if (!(error instanceof Error) || !error.message.includes("stopped")) told(String(error));
      },
    });
  }
}

/** The keys under which a journal has answers. */
const answersIn = (journal: MemoryJournal) => [...journal.range("r/")].map(([key]) => key);

function begun(journal: MemoryJournal): Service<Tally> {
  return runOn(memoryPorts, Tally, {}, new Ledger(journal, 10)) as unknown as Service<Tally>;
}

test("a relayed request has its effect once over links and heads that are lost, and its answer is kept until its gateway has it", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const world = new World(seed);
    await world.run(120);
    await world.finish();
    const service = begun(world.journal);
    const counts = await service.root.allCounts();
    for (const { method, id } of world.gateways.flatMap(({ requests }) => requests)) {
      assert.equal(counts.get(id) ?? 0, method === "apply" ? 1 : 0, `${id}, seed ${seed}`);
      const started = await service.root.marks(id).read();
      assert.equal(started, method === "lookAndStart" ? 1 : 0, `${id}, seed ${seed}`);
    }
    assert.deepEqual(answersIn(world.journal), [], `seed ${seed}`);
    await service.stop();
  }
});

test("what only reads writes nothing, through a gateway as well", async () => {
  const journal = new MemoryJournal();
  const service = begun(journal);
  const door = service[DOOR];
  const link = door.relay("gateway:a", { caller: "the cluster", part: "a" });
  const [target] = [...door.roots.values()];
  let number = 0;
  const ask = (name: string) =>
    new Promise((resolve, reject) => {
      const method = target?.shape.methods.get(name);
      assert.ok(target && method);
      number += 1;
      link.ask(number, { target, method, args: ["x"] }, undefined, 0, { resolve, reject });
    });
  await ask("apply");
  assert.equal(answersIn(journal).length, 1);
  let writes = 0;
  const { append } = journal;
  journal.append = (group, done) => {
    writes += group.length;
    append.call(journal, group, done);
  };
  for (let i = 0; i < 50; i++) assert.equal(await ask("look"), 1);
  assert.equal(writes, 0);
  await service.stop();
});
