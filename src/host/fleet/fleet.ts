import type { Colocate, Placement } from "../../elastic/placement.js";
import { HeadwaterError } from "../../errors.js";
import type { ContextClass } from "../../model/context.js";
import type { Slot } from "../context/index.js";
import type { Heads } from "../head/index.js";
import type { Program } from "../node/index.js";
import { HOSTS_MAX, type HostId } from "../ports/index.js";
import { Addressed, misplaced } from "./addressed.js";
import { checkedColocate, contextClasses, misrule } from "./placement-rules.js";
import type {
  ContextInfo,
  HostInfo,
  HostLoad,
  HostState,
  NamedContext,
  ProgramHosts,
} from "./program-hosts.js";

/** How a host is doing, for the code that has it started. */
export interface HostStatus {
  /** Has it loaded the program? */
  readonly isReady: boolean;
  readonly restarts: number;
  readonly member: string | null;
}

/** Where hosts come from, and where they go. */
export interface HostPool {
  readonly placement: Placement<HostId>;
  /** Of the logical nodes whose events run on these hosts. */
  readonly heads: Heads;
  /** Starts a host; resolves when it takes events. */
  begin(host: HostId): Promise<void>;
  /** Ends a host that is no longer needed. */
  end(host: HostId): Promise<void>;
  /** Ends a host at once, as a crash would. */
  kill(host: HostId): void;
  life(host: HostId): number;
  /** Null if the host is not there. */
  status(host: HostId): HostStatus | null;
  load(host: HostId): HostLoad | null;
}

/** Migrations in the background that are under way at the same time. */
const MOVES_AT_ONCE = 4;

/** Hosts come, go, and share the contexts of a program. */
export class Fleet implements ProgramHosts {
  readonly #pool: HostPool;
  readonly #program: Program;
  readonly #addressed: Addressed;
  readonly #states = new Map<HostId, HostState>();
  #lastHost: number;
  /** The migrations in the background, if there are any, and whether they must look again. */
  #settling: Promise<void> | null = null;
  #isUnsettled = false;

  constructor(pool: HostPool, program: Program) {
    this.#pool = pool;
    this.#program = program;
    const roots = [...program.roots].map(([node, { shape }]) => [node, shape.cls] as const);
    this.#addressed = new Addressed(Object.fromEntries(roots));
    let isHeard = false; // of one that throws is heard once, not with every context
    pool.placement.onMisrule = (context, error) => {
      if (!isHeard) program.warn(misrule("`colocate`", context, error));
      isHeard = true;
    };
    for (const host of pool.placement.hosts) this.#states.set(host, "running");
    this.#lastHost = Math.max(...pool.placement.hosts);
  }

  list(): readonly HostInfo[] {
    const contexts = new Map<HostId, number>();
    for (const [, host] of this.#resident()) contexts.set(host, (contexts.get(host) ?? 0) + 1);
    return [...this.#states].flatMap(([id, wanted]) => {
      const status = this.#pool.status(id);
      if (status === null) return []; // it is lost for good
      const state = wanted === "running" && !status.isReady ? "starting" : wanted;
      let events = 0;
      for (const head of this.#pool.heads.all) events += head?.runsOn(id) ?? 0;
      const { restarts, member } = status;
      const load = this.#pool.load(id);
      return { id, state, contexts: contexts.get(id) ?? 0, events, restarts, member, load };
    });
  }

  contexts(): readonly ContextInfo[] {
    return [...this.#resident()].map(([slot, host]) => ({ context: String(slot), node: slot.node, host }));
  }

  *#resident(): Iterable<[Slot, HostId]> {
    const lives = new Map([...this.#states.keys()].map((id) => [this.#pool.life(id), id]));
    for (const slot of this.#contexts()) {
      const host = slot.shape.anonymous ? undefined : lives.get(slot.residence.life);
      if (host !== undefined && slot.residence.life !== 0) yield [slot, host];
    }
  }

  async add(count = 1): Promise<readonly number[]> {
    this.#program.mustGoOn();
    if (!Number.isSafeInteger(count) || count < 1 || this.#states.size + count > HOSTS_MAX) {
      const what = `${count} hosts cannot be added to the ${this.#states.size} that there are: at most ${HOSTS_MAX}.`;
      throw new HeadwaterError("HW-6012", what);
    }
    const added = Array.from({ length: count }, () => ++this.#lastHost as HostId);
    for (const host of added) this.#states.set(host, "starting");
    await Promise.all(added.map((host) => this.#start(host, () => this.#pool.begin(host))));
    this.settled().catch(() => {}); // a caller that wants to know awaits it
    return added;
  }

  /** A host has come by itself, and gets a number. What belongs to it migrates there when it has begun. */
  async admit(begin: (host: HostId) => Promise<void>): Promise<void> {
    this.#program.mustGoOn();
    if (this.#states.size >= HOSTS_MAX)
      throw new HeadwaterError(
        "HW-6012",
        `no more hosts can join: there are ${HOSTS_MAX}, which is the most.`,
      );
    this.#lastHost += 1;
    const host = this.#lastHost as HostId;
    this.#states.set(host, "starting");
    await this.#start(host, () => begin(host));
    this.settled().catch(() => {});
  }

  async #start(host: HostId, begin: () => Promise<void>): Promise<void> {
    try {
      await begin();
    } catch (error) {
      this.#states.delete(host);
      throw error;
    }
    this.#states.set(host, "running");
    this.#pool.placement.add(host);
  }

  async drain(named: number): Promise<void> {
    this.#program.mustGoOn();
    const host = this.#known(named);
    const state = this.#states.get(host);
    if (state === "starting") throw noHost(host, "is still starting", this.#running());
    if (state === "running") {
      if (this.#running().length === 1) {
        const what = `host ${host} is the only one that takes contexts, so nothing can be moved away from it. Add another one first.`;
        throw new HeadwaterError("HW-6012", what);
      }
      this.#states.set(host, "draining");
      this.#program.feed.note({ kind: "host", host, what: "draining", why: null });
      this.#pool.placement.close(host);
    }
    await this.settled();
  }

  async remove(named: number): Promise<void> {
    await this.drain(named);
    const host = named as HostId; // else it could not have been drained
    const { placement } = this.#pool;
    const isFree = () =>
      ![...this.#contexts()].some((slot) => !slot.shape.anonymous && placement.of(slot) === host) &&
      !this.#pool.heads.all.some((head) => head?.needs(host));
    await this.#program.until(
      () => this.#states.get(host) !== "draining" || isFree() || this.#program.isStopped,
    );
    this.#program.mustGoOn();
    if (this.#states.get(host) !== "draining") return; // it is gone, or it is needed again
    this.#states.delete(host);
    placement.remove(host);
    for (const head of this.#pool.heads.all) head?.hostRemoved(host);
    await this.#pool.end(host);
  }

  kill(named: number): void {
    this.#program.mustGoOn();
    this.#pool.kill(this.#known(named));
  }

  /** A host is gone for good. If it was the last that took contexts, one that was being drained must take them again. */
  lost(host: HostId): void {
    this.#states.delete(host);
    this.#pool.placement.remove(host);
    const [left] = this.#states.keys();
    if (this.#running().length > 0 || left === undefined) return;
    this.#states.set(left, "running");
    this.#pool.placement.open(left);
  }

  async move(context: NamedContext, host: number): Promise<void> {
    this.#program.mustGoOn();
    await this.moveSlot(this.#slotOf(context), host);
  }

  /** The same for a context that was found otherwise. */
  async moveSlot(slot: Slot, host: number): Promise<void> {
    await this.#move(slot, this.#mustBeFree(slot, host), true);
  }

  /** Why a context cannot be migrated to a host, if so. */
  refusal(context: Slot | string, host: number): string | null {
    try {
      this.#mustBeFree(typeof context === "string" ? this.#slotOf(context) : context, host);
      return null;
    } catch (error) {
      return (error as HeadwaterError).message.replace(/\.$/, "");
    }
  }

  #mustBeFree(slot: Slot, named: number): HostId {
    const host = this.#mustTake(named);
    const pin = this.#pool.placement.pinOf(slot);
    if (pin === null || pin.host === host) return host;
    const what = `${slot} cannot be moved to host ${host}: it is pinned to host ${pin.host} by "${pin.address}".`;
    throw misplaced(`${what} \`hosts.unpin(${JSON.stringify(pin.address)})\` frees it.`);
  }

  where(context: NamedContext): number {
    return this.#pool.placement.of(this.#slotOf(context));
  }

  async pin(context: NamedContext, named: number): Promise<void> {
    this.#program.mustGoOn();
    const host = this.#mustTake(named);
    const pattern = this.#patternOf(context, "`pin`");
    await this.#change((placement) => placement.pin(pattern, host));
  }

  async unpin(context: NamedContext): Promise<void> {
    const pattern = this.#patternOf(context, "`unpin`");
    await this.#change((placement) => placement.unpin(pattern));
  }

  async separate(...classes: ContextClass[]): Promise<void> {
    const checked = contextClasses(classes, this.#addressed, "`separate`");
    await this.#change((placement) => {
      for (const cls of checked) placement.separate(cls);
    });
  }

  async colocate(rule: Colocate): Promise<void> {
    const checked = checkedColocate(rule, this.#contexts(), "`colocate`");
    await this.#change((placement) => placement.colocate(checked));
  }

  async #change(rules: (placement: Placement<HostId>) => void): Promise<void> {
    this.#program.mustGoOn();
    const { placement } = this.#pool;
    placement.change(this.#contexts(), () => rules(placement));
    return this.settled();
  }

  settled(): Promise<void> {
    this.#isUnsettled = true;
    this.#settling ??= this.#settle().finally(() => {
      this.#settling = null;
    });
    return this.#settling;
  }

  /** Migrates contexts that are not where they belong, a few at a time, until nothing is left. */
  async #settle(): Promise<void> {
    let hasMoved = true;
    while (this.#isUnsettled || hasMoved) {
      this.#isUnsettled = false;
      const misplaced = [...this.#contexts()].filter((slot) => this.#pool.placement.wanted(slot) !== null);
      hasMoved = misplaced.length > 0;
      const some = Array.from({ length: MOVES_AT_ONCE }, async () => {
        for (let slot = misplaced.pop(); slot !== undefined; slot = misplaced.pop()) {
          const host = this.#pool.placement.wanted(slot);
          if (host !== null) await this.#move(slot, host, false).catch(unlessNotMade);
        }
      });
      await Promise.all(some);
    }
  }

  #move(slot: Slot, to: HostId, isRequested: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pool.heads.of(slot.node).move(slot, { to, isRequested }, { resolve: () => resolve(), reject });
    });
  }

  *#contexts(): Iterable<Slot> {
    for (const { root } of this.#program.nodes.values()) yield* subtree(root);
  }

  #running(): HostId[] {
    return [...this.#states].filter(([, state]) => state === "running").map(([host]) => host);
  }

  /** The named host. */
  #known(named: number): HostId {
    const host = named as HostId;
    if (this.#states.has(host)) return host;
    throw noHost(host, "is not there", this.#running());
  }

  #mustTake(named: number): HostId {
    const host = this.#known(named);
    const state = this.#states.get(host);
    if (state !== "running") throw noHost(host, `is ${state}`, this.#running());
    return host;
  }

  #patternOf(context: NamedContext, rule: string): string {
    return typeof context === "string"
      ? this.#addressed.pattern(context, rule)
      : String(this.#slotOf(context));
  }

  #slotOf(context: unknown): Slot {
    const { roots } = this.#program;
    const slot =
      typeof context === "string"
        ? this.#addressed.slot(context, roots)
        : this.#addressed.behind(context, roots);
    if (slot.shape.anonymous)
      throw misplaced(`${slot} is anonymous: it has no state, and so there is nothing to move.`);
    return slot;
  }
}

/** A migration that was not made because its host is gone is decided again among the present hosts. */
function unlessNotMade(error: unknown): void {
  if (!(error instanceof HeadwaterError && error.code === "HW-6015")) throw error;
}

function* subtree(slot: Slot): Iterable<Slot> {
  yield slot;
  for (const child of slot.made()) yield* subtree(child);
}

function noHost(host: number, why: string, running: readonly number[]): HeadwaterError {
  const known = running.length === 0 ? "none" : running.join(", ");
  return new HeadwaterError("HW-6011", `host ${host} ${why}. The hosts that take contexts are: ${known}.`);
}
