import type { AnyService } from "../host/service.js";
import type { Fact, HostFact, Kind, MigrationFact, Observation } from "../observe/index.js";
import { Busy } from "./busy.js";
import { KeptFacts } from "./kept-facts.js";
import { Recent } from "./recent.js";
import { type Second, Seconds } from "./seconds.js";

/** Facts that a page hears of one by one; of events and waits it gets sums, and asks for more. */
export type Notice = (
  | HostFact
  | MigrationFact
  | { readonly kind: "note"; readonly atMs: number; readonly text: string }
) & {
  /** In the order in which they were noted. */
  readonly number: number;
};

type Unnumbered<N> = N extends unknown ? Omit<N, "number"> : never;

export interface MonitorListening {
  second(second: Second): void;
  notice(notice: Notice): void;
}

const KINDS: readonly Kind[] = [
  "event",
  "trail",
  "journal",
  "refused",
  "host",
  "migration",
  "decision",
  "failure",
  "warning",
  "halted",
  "member",
];
const TICK_MS = 1000;
/** Facts are heard for so long after the last page has gone: it may be reloading. */
const LINGER_MS = 60_000;
const NOTICES_BYTES = 128 * 1024;
/** Of one: a stack of an error may be long. */
const TEXT_LENGTH_MAX = 4000;

/**
 * Adds up what is observed of a program while a page is open. While there is none, nothing is observed, so that a program pays
 * nothing for a dashboard that is closed.
 */
export class Monitor {
  readonly seconds = new Seconds();
  readonly busy = new Busy();
  readonly recent = new Recent();
  readonly #notices = new KeptFacts<Notice>(NOTICES_BYTES);
  #noticed = 0;
  readonly #service: Pick<AnyService, "observe">;
  readonly #pages = new Set<MonitorListening>();
  #observation: Observation | null = null;
  #ticking: ReturnType<typeof setInterval> | null = null;
  #ending: ReturnType<typeof setTimeout> | null = null;

  constructor(service: Pick<AnyService, "observe">) {
    this.#service = service;
  }

  get notices(): readonly Notice[] {
    return this.#notices.items;
  }

  /** A page is open; returns how to close it. */
  open(page: MonitorListening): () => void {
    this.wake();
    this.#pages.add(page);
    return () => {
      this.#pages.delete(page);
      if (this.#pages.size === 0) this.#linger();
    };
  }

  /** A viewer has come: facts are heard from now on, for a minute at least. */
  wake(): void {
    if (this.#observation === null) {
      this.#observation = this.#service.observe(KINDS, (fact) => this.#take(fact as Fact));
      this.#ticking = setInterval(() => this.#tick(), TICK_MS).unref();
    }
    this.#linger();
  }

  close(): void {
    this.#observation?.stop();
    this.#observation = null;
    if (this.#ticking !== null) clearInterval(this.#ticking);
    if (this.#ending !== null) clearTimeout(this.#ending);
  }

  #linger(): void {
    if (this.#ending !== null) clearTimeout(this.#ending);
    this.#ending = setTimeout(() => {
      if (this.#pages.size === 0) this.close();
    }, LINGER_MS).unref();
  }

  #take(fact: Fact): void {
    this.seconds.take(fact);
    switch (fact.kind) {
      case "event":
        this.recent.take(fact);
        return this.busy.take(fact);
      case "trail":
        return this.recent.trail(fact);
      case "host":
      case "migration":
        return this.#notice(fact);
      case "failure": {
        const { context, method, error, atMs } = fact;
        return this.#notice({ kind: "note", atMs, text: `${context}.${method}(…) failed: ${textOf(error)}` });
      }
      case "member": {
        if (fact.what === "measured") return;
        return this.#notice({
          kind: "note",
          atMs: fact.atMs,
          text: `${fact.member} has ${fact.what} the cluster`,
        });
      }
      case "warning":
      case "halted":
        return this.#notice({ kind: "note", atMs: fact.atMs, text: fact.error.message });
      default:
        return;
    }
  }

  #notice(noted: Unnumbered<Notice>): void {
    this.#noticed += 1;
    const notice = { ...noted, number: this.#noticed } as Notice;
    this.#notices.add(notice);
    for (const page of this.#pages) page.notice(notice);
  }

  #tick(): void {
    this.busy.tick();
    const second = this.seconds.tick(Date.now());
    for (const page of this.#pages) page.second(second);
  }
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return text.slice(0, TEXT_LENGTH_MAX);
}
