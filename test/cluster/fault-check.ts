import assert from "node:assert/strict";
import type { Service } from "headwater";
import { lastOf } from "#src/journal/stream/epoch.js";
import { readMessage } from "#src/journal/stream/messages.js";
import type { NatsLog } from "#src/journal/stream/nats-log.js";
import { until } from "../waits.js";
import { type BusyProcess, WORKERS } from "./busy-process.js";
import type BusyBank from "./programs/busy-bank.js";
import { readUpTo } from "./support.js";

const [ACCOUNTS, READS_AT_ONCE] = [10, 200];

/** What one process has seen of a cluster while faults happened. */
export class FaultWitness {
  readonly #root: Service<BusyBank>["root"];
  /** What a client was told. */
  readonly #heard: string[] = [];
  /** Per worker: transfers up to this one may have been made before the client was known. */
  readonly #unheard = new Map<string, number>();
  /** The results of the standing query, by number. */
  readonly #results: string[] = [];

  constructor(service: Service<BusyBank>) {
    this.#root = service.root;
    service.client<string>("ada", (operation) => this.#heard.push(operation));
  }

  /** Resolves when the client is known. From then on it hears of all transfers of these processes. */
  async hears(processes: () => Iterable<BusyProcess>): Promise<void> {
    await until(() => this.#heard.length > 0, "until the client hears");
    for (const { name, done } of processes())
      for (const worker of WORKERS) this.#unheard.set(`${name}/${worker}`, (done[worker] ?? -1) + 1);
  }

  /** Reads on in the results of the standing query, which are numbered without gap or repeat. */
  async readResults(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const next = this.#results.length + 1;
      const { rows } = await this.#root.statement.followBooked(next);
      for (const { number, weight, row } of rows) {
        assert.equal(number, this.#results.length + 1, "results are numbered without gap or repeat");
        assert.equal(weight, 1, `${row.operation} was not taken back`);
        this.#results.push(row.operation);
      }
      isMore = rows.length > 0;
    }
  }

  /** What was promised of everything that these processes have asked for. */
  async check(processes: readonly BusyProcess[], port: NatsLog): Promise<void> {
    const stale = processes.reduce((sum, each) => sum + each.stale, 0);
    assert.equal(stale, 0, "no answer is older than one before it");
    const all = processes.map((each) => each.transfers());
    const acknowledged = all.flatMap((each) => each.acknowledged);
    const names = [...acknowledged, ...all.flatMap((each) => each.unsure)];
    const times = await this.#effects(names);
    for (const operation of acknowledged) assert.equal(times.get(operation), 1, operation);
    const made = names.filter((operation) => times.get(operation) === 1);
    await this.#messages(made);
    await this.readResults();
    assert.equal(this.#results.length, made.length, "each transfer is a result once");
    assert.deepEqual(new Set(this.#results), new Set(made));
    assert.equal(await this.#root.count(), made.length);
    assert.equal(await this.#root.total(ACCOUNTS), ACCOUNTS * 100);
    const { position } = await lastOf(port);
    const messages = await readUpTo(port, position);
    for (const message of messages) assert.ok(readMessage(message) !== null, `message ${message.position}`);
  }

  /** How often each was made. What comes of one comes once: timers and outside calls may come a little later. */
  async #effects(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const times = new Map<string, number>();
    const look = async (operation: string) => {
      const [made, rung, noted] = await this.#root.operations(operation).read();
      times.set(operation, made);
      if (made === 0) return true;
      assert.ok(made === 1 && rung <= 1 && noted <= 1, `${operation}: ${made}, ${rung}, ${noted}`);
      return rung === 1 && noted === 1;
    };
    for (let at = 0; at < names.length; at += READS_AT_ONCE) {
      const some = names.slice(at, at + READS_AT_ONCE);
      await until(async () => (await Promise.all(some.map(look))).every(Boolean), "until all has come of it");
    }
    return times;
  }

  async #messages(made: readonly string[]): Promise<void> {
    const told = new Set<string>();
    const isMissing = (operation: string) => {
      const [, worker = "", i] = /^(.*)\/(\d+)$/.exec(operation) ?? [];
      return Number(i) > (this.#unheard.get(worker) ?? -1) && !told.has(operation);
    };
    const allHeard = () => {
      for (const operation of this.#heard) told.add(operation);
      return !made.some(isMissing);
    };
    await until(allHeard, "until all messages were heard").catch((error: unknown) => {
      throw new Error(`${made.filter(isMissing).join(", ")} were not heard`, { cause: error });
    });
    assert.equal(told.size, this.#heard.length, "each message is heard once");
  }
}
