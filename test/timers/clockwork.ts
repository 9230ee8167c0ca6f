import type { ContextClass, Ref } from "headwater";
import { Program } from "#src/host/node/program.js";
import { DEFAULT_LIMITS, type Limits } from "#src/host/ports/limits.js";
import { memoryPorts, type Ports } from "#src/host/ports/ports.js";
import { Ledger } from "#src/host/store/ledger.js";
import type { Journal, Write } from "#src/journal/journal.js";
import { MemoryJournal } from "#src/journal/memory.js";

/** A machine whose clocks stand still until a test moves them. */
export class Clockwork {
  /** Since the machine was started. */
  uptimeMs = 5_000;
  /** What its clock shows. */
  dayMs = 1_700_000_000_000;
  #waiting: { at: number; task: () => void }[] = [];

  /** A process starts: its clock that only goes forward begins anew. */
  ports(): Ports {
    const began = this.uptimeMs;
    this.#waiting = [];
    return {
      ...memoryPorts,
      now: () => this.uptimeMs - began,
      timeOfDay: () => this.dayMs,
      at: (time, task) => {
        const waiting = { at: time + began, task };
        this.#waiting.push(waiting);
        return () => {
          this.#waiting = this.#waiting.filter((each) => each !== waiting);
        };
      },
    };
  }

  /** Time passes, and what is due meanwhile is done at its time. */
  async pass(ms: number, program: Program): Promise<void> {
    const end = this.uptimeMs + ms;
    for (;;) {
      await program.until(() => program.isIdle);
      const next = this.#waiting.sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#waiting.shift();
      this.#move(Math.max(0, next.at - this.uptimeMs));
      next.task();
    }
    this.#move(end - this.uptimeMs);
  }

  #move(ms: number): void {
    this.uptimeMs += ms;
    this.dayMs += ms;
  }

  /** Nothing runs meanwhile. */
  off(ms: number): void {
    this.#waiting = [];
    this.#move(ms);
  }

  /** Somebody sets the clock. */
  setBy(ms: number): void {
    this.dayMs += ms;
  }
}

/** A journal in memory that counts what is asked of it. */
export class CountingJournal extends MemoryJournal implements Journal {
  read = 0;
  bytesWritten = 0;

  override append(writes: readonly Write[], done: Parameters<Journal["append"]>[1]): void {
    for (const { key, value } of writes) this.bytesWritten += key.length + (value?.length ?? 0);
    super.append(writes, done);
  }

  override get(key: string): Uint8Array | undefined {
    this.read += 1;
    return super.get(key);
  }

  override *range(prefix: string, after?: string): Iterable<[key: string, value: Uint8Array]> {
    for (const entry of super.range(prefix, after)) {
      this.read += 1;
      yield entry;
    }
  }
}

export function start<C>(
  cls: new () => C,
  clockwork: Clockwork,
  journal: Journal | null,
  limits: Partial<Limits> = {},
): { program: Program; root: Ref<C> } {
  const program = new Program({ Root: cls as unknown as ContextClass }, clockwork.ports(), {
    commitOrder: "observer",
    limits: { ...DEFAULT_LIMITS, ...limits },
    ledger: journal === null ? null : new Ledger(journal, 1000),
  });
  return { program, root: program.rootOf("Root") as unknown as Ref<C> };
}
