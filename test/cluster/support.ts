import { HeadwaterError } from "headwater";
import { FrameBuffer } from "#src/journal/log/frame.js";
import type { LogMessage, LogPort, PublishOutcome } from "#src/journal/stream/log-port.js";
import type { Random } from "#src/random.js";
import type { DelayPort } from "#src/sim/world/sim-log.js";

/** Lets what can happen happen in an order that a seed decides, one thing per turn of the event loop, while simulated time passes. */
export class Chance {
  readonly #possible: (() => void)[] = [];
  readonly #timers = new Set<{ readonly due: number; readonly happen: () => void }>();
  readonly #random: Random;
  readonly #stepMs: number;
  #isRunning = false;
  #steps = 0;
  #isOver = false;
  /** In milliseconds. */
  now = 1000;
  /** Hears what was thrown. */
  broken: (error: unknown) => void = (error) => {
    throw error;
  };

  /** Each step takes up to `stepMs`. */
  constructor(random: Random, stepMs = 0) {
    this.#random = random;
    this.#stepMs = stepMs;
  }

  get steps(): number {
    return this.#steps;
  }

  readonly later: DelayPort = (_what, happen) => {
    this.#possible.push(happen);
    this.#begin();
  };

  /** Happens after that time, if it was not called off. */
  at(ms: number, happen: () => void): () => void {
    const timer = { due: this.now + ms, happen };
    this.#timers.add(timer);
    this.#begin();
    return () => this.#timers.delete(timer);
  }

  end(): void {
    this.#isOver = true;
  }

  #begin(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (!this.#isOver && this.#possible.length + this.#timers.size > 0) {
      this.#pass();
      const [next] = this.#possible.splice(this.#random.int(this.#possible.length), 1);
      try {
        next?.();
      } catch (error) {
        this.broken(error);
      }
      this.#steps += 1;
      // Now and then, timers and input get their turn.
      await new Promise<void>((resolve) => {
        if (this.#steps % 64 === 0) setImmediate(resolve);
        else process.nextTick(resolve);
      });
    }
    this.#isRunning = false;
  }

  /** Time passes: if there is nothing else to do, up to the next timer. */
  #pass(): void {
    if (this.#stepMs > 0) this.now += this.#random.int(this.#stepMs);
    const timers = [...this.#timers];
    if (this.#possible.length === 0) this.now = Math.max(this.now, Math.min(...timers.map(({ due }) => due)));
    for (const timer of timers) {
      if (timer.due > this.now) continue;
      this.#timers.delete(timer);
      this.#possible.push(timer.happen);
    }
  }
}

export function publish(port: LogPort, position: number, text: string): Promise<PublishOutcome> {
  return new Promise((resolve) => port.publish(position, Buffer.from(text), resolve));
}

/** The messages of a log from its beginning, up to this position. */
export function readUpTo(port: LogPort, position: number): Promise<LogMessage[]> {
  const messages: LogMessage[] = [];
  return new Promise((resolve, reject) => {
    if (position === 0) return resolve(messages);
    const following = port.follow(0, {
      message: (message) => {
        messages.push(message);
        if (message.position !== position) return;
        following.stop();
        resolve(messages);
      },
      cut: (first) => reject(new Error(`cut up to ${first}`)),
    });
  });
}

export function frameOf(writes: Readonly<Record<string, string>>): FrameBuffer {
  const frame = new FrameBuffer();
  frame.addAll(Object.entries(writes).map(([key, value]) => ({ key, value: Buffer.from(value) })));
  return frame;
}

export const fenced = (epoch: number) => new HeadwaterError("HW-3005", `epoch ${epoch} has begun.`);
export const damaged = (what: string) => new HeadwaterError("HW-3004", `${what}.`);
export const closed = () => new HeadwaterError("HW-3007", "the log was closed.");
