import type { Program } from "../../host/node/index.js";
import { resolvePath } from "../../model/path.js";
import type { Random } from "../../random.js";
import { failureOf } from "../oracle/index.js";
import { type Recorder, RequestWaiting } from "./recorder.js";
import type { WorkloadRequests } from "./requests.js";
import type { Storage } from "./storage.js";
import type { Visitors, WorldRequest } from "./world-run.js";

/** What requests need of their world. */
interface AskingWorld {
  readonly workload: readonly WorldRequest[];
  readonly requests: WorkloadRequests;
  readonly recorder: Recorder;
  readonly storage: Storage | null;
  readonly visitors: Visitors | null;
  readonly random: Random;
  program(): Program;
  /** Which process runs. */
  life(): number;
  step(): number;
  later(what: string, happen: () => void): void;
  plan(index: number): void;
  planAfter(ms: number, index: number): void;
}

/** One in so many requests carries no id: its client never asks again. */
const IDLESS_EVERY = 7;
/** A client whose request was refused waits at most so long before it asks again. */
const RETRY_MS_MAX = 1000;

/** Makes the requests of a workload, and hears what comes of them. */
export class WorldAsking {
  constructor(readonly world: AskingWorld) {}

  ask(index: number): void {
    const { workload, requests, random, storage, visitors } = this.world;
    const { node: name, path, method: methodName, args, client } = workload[index] as WorldRequest;
    const program = this.world.program();
    const node = program.node(name);
    const slot = resolvePath(node.root, path);
    const method = slot.shape.methods.get(methodName);
    if (method === undefined) throw new RangeError(`${slot} has no method ${methodName}`);
    const hasId = storage !== null && (visitors !== null || index % IDLESS_EVERY !== 0);
    const isFirst = requests.make(index, this.world.step(), hasId);
    if (!hasId) {
      node.submit(slot, method, args.slice(), client ?? undefined, new RequestWaiting(index));
      return;
    }
    const asker = { client: client ?? undefined, request: String(index) };
    void this.#answer(index, () => program.ask(slot, method, args.slice(), asker));
    if (random.chance(0.05) && isFirst) this.world.later("again", () => this.world.plan(index));
  }

  async #answer(index: number, ask: () => Promise<unknown>): Promise<void> {
    const { storage, random, recorder, requests, visitors } = this.world;
    const life = this.world.life();
    let settled: { readonly ok: boolean; readonly value: unknown };
    try {
      settled = { ok: true, value: await ask() };
    } catch (error) {
      // By coming at once, a few refused requests would leave no turn to anything else.
      if (storage?.hasNoRoom(error) && life === this.world.life())
        return this.world.planAfter(1 + random.int(RETRY_MS_MAX), index);
      settled = { ok: false, value: error };
    }
    if (life !== this.world.life() || storage?.hasFailed) return; // the connection broke, or the answer is no answer
    const { ok, value } = settled;
    recorder.answered(index, ok ? { ok, value } : { ok, error: failureOf(value) });
    requests.answered(index);
    visitors?.answered(index, ok, value);
  }
}
