import { HeadwaterError } from "../../errors.js";
import { OTHER } from "../head/index.js";
import { type HostTask, NotSpawned, type OpenLink, spawnDelayMs } from "../link/index.js";
import type { Program } from "../node/index.js";
import type { HostId } from "../ports/index.js";
import { HeadLine } from "../wire/index.js";
import { type Awaited, HostLife } from "./host-life.js";
import type { HostSet, HostSupply } from "./host-set.js";
import { lostWarning, notStarted, spawnWarning } from "./lost-host.js";

/** A host that ends so often before it is ready is not replaced again. */
const STARTS_IN_VAIN_MAX = 5;

/** Starts hosts on this machine, as threads or processes, and keeps a spare one. Lets hosts of other machines join, too. */
export class Launcher implements HostSupply {
  readonly #open: OpenLink;
  readonly #task: HostTask;
  readonly #hosts: HostSet;
  /** How often a host was started since it was last ready. */
  readonly #vain = new Map<HostId, number>();
  readonly #restarts = new Map<HostId, number>();
  /** How often a host could not be spawned since one was, and what waits for its next attempt. */
  readonly #unspawned = new Map<HostId, { failures: number; retry: NodeJS.Timeout }>();
  /** With a journal, one more that has loaded the program and takes the place of the next that is lost. */
  #spare: HostLife | null = null;
  #lives = 0;

  constructor(open: OpenLink, task: HostTask, hosts: HostSet) {
    this.#open = open;
    this.#task = task;
    this.#hosts = hosts;
  }

  get spares(): readonly HostLife[] {
    return this.#spare === null ? [] : [this.#spare];
  }

  serve(): void {
    this.#keepSpare();
  }

  #keepSpare(): void {
    if (!this.#task.isDurable || this.#hosts.isClosed) return;
    this.#spare = this.#launch(null, NOT_AWAITED);
  }

  async begin(host: HostId): Promise<void> {
    if (this.#hosts.isClosed) throw stopped();
    try {
      await new Promise<void>((ready, lost) => {
        this.#begin(host, { ready, lost }).isNew = true;
      });
    } catch (why) {
      throw this.#hosts.isClosed ? stopped() : notStarted(host, why as Error);
    }
  }

  async admit(host: HostId, open: OpenLink): Promise<void> {
    if (this.#hosts.isClosed) throw stopped();
    await new Promise<void>((ready, lost) => {
      const admitted = this.#launch(host, { ready, lost }, open);
      admitted.isNew = true;
      this.#hosts.join(host, admitted);
    });
  }

  #begin(host: HostId, awaited: Awaited): HostLife {
    const begun = this.#launch(host, awaited);
    this.#hosts.join(host, begun);
    return begun;
  }

  #launch(number: HostId | null, awaited: Awaited, open: OpenLink = this.#open): HostLife {
    this.#lives += 1;
    const link = open(this.#task, {
      batch: (bytes) => {
        if (this.#hosts.isCurrent(launched)) launched.line.receive(bytes);
      },
      aside: (aside) => {
        this.#hosts.heard(launched, aside);
        if (aside.kind === "ready" && !launched.isLost) this.#isReady(launched);
      },
      lost: (why) => launched.lose(why),
    });
    const line = new HeadLine({
      roots: () => this.#hosts.program?.roots ?? new Map(),
      messageBytes: this.#task.limits.messageBytes,
      post: (bytes) => link.post(bytes),
      take: (message) => this.#hosts.heads.of(message.node).heard(launched.number as HostId, message),
    });
    const launched = new HostLife(this.#lives, number, link, line, awaited, (why) =>
      this.#lost(launched, why),
    );
    return launched;
  }

  #isReady({ number }: HostLife): void {
    if (number === null) return;
    this.#vain.delete(number);
    this.#unspawned.delete(number);
  }

  #lost(lost: HostLife, why: Error): void {
    const { program, isClosed } = this.#hosts;
    if (isClosed) return;
    if (lost === this.#spare) return this.#spareLost(lost, why);
    const { number, isNew } = lost;
    const isDelayed = why instanceof NotSpawned && program !== null && !isNew;
    if (isDelayed && number !== null && this.#hosts.isCurrent(lost))
      return this.#spawnLater(lost, number, why, program);
    this.#hosts.lost(lost, why);
  }

  /** One that never got so far is not tried again before the next host is replaced. */
  #spareLost(spare: HostLife, why: Error): void {
    this.#spare = null;
    if (spare.isReady) this.#keepSpare();
    const then = spare.isReady ? "It is replaced." : "It is started again when the next host is lost.";
    this.#hosts.program?.warn(lostWarning(spare, why, "", then));
  }

  /** Until the next attempt, the life that never began stays in its place: what is sent there starts again after it. */
  #spawnLater(lost: HostLife, number: HostId, why: Error, program: Program): void {
    const failures = (this.#unspawned.get(number)?.failures ?? 0) + 1;
    const delayMs = spawnDelayMs(failures);
    const retry = setTimeout(() => {
      if (!this.#hosts.isCurrent(lost) || this.#hosts.isClosed) return;
      this.#begin(number, NOT_AWAITED);
      for (const head of this.#hosts.heads.all) head?.hostLost(number, OTHER, why.message);
    }, delayMs);
    this.#unspawned.set(number, { failures, retry });
    program.warn(spawnWarning(number, why, failures, delayMs));
  }

  startsInVain(host: HostId): number | null {
    const inVain = this.#vain.get(host) ?? 0;
    return inVain === STARTS_IN_VAIN_MAX ? inVain : null;
  }

  replace(host: HostId): void {
    const spare = this.#spare;
    this.#vain.set(host, (this.#vain.get(host) ?? 0) + 1);
    this.#restarts.set(host, this.restarts(host) + 1);
    if (spare?.isReady) {
      this.#hosts.join(host, spare);
      this.#vain.delete(host);
      this.#keepSpare();
    } else this.#begin(host, NOT_AWAITED);
    if (this.#spare === null) this.#keepSpare();
  }

  restarts(host: HostId): number {
    return this.#restarts.get(host) ?? 0;
  }

  close(): void {
    for (const { retry } of this.#unspawned.values()) clearTimeout(retry);
  }
}

/** For a host that no caller waits for. */
const NOT_AWAITED: Awaited = { ready: () => {}, lost: () => {} };

function stopped(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the service has stopped and starts no more hosts.");
}
