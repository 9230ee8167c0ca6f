import { HeadwaterError } from "headwater";
import { FrameBuffer } from "#src/journal/log/frame.js";
import type { LogMessage, LogPort, PublishOutcome } from "#src/journal/stream/log-port.js";
import type { Random } from "#src/random.js";
import type { DelayPort } from "#src/sim/world/sim-log.js";

/** Lets what can happen happen in an order that a seed decides, one thing per turn of the event loop. */
export class Chance {
  readonly #possible: (() => void)[] = [];
  readonly #random: Random;
  #isRunning = false;
  #steps = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  readonly later: DelayPort = (_what, happen) => {
    this.#possible.push(happen);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  };

  async #run(): Promise<void> {
    while (this.#possible.length > 0) {
      const [next] = this.#possible.splice(this.#random.int(this.#possible.length), 1);
      next?.();
      this.#steps += 1;
      // Now and then, timers and input get their turn.
      await new Promise<void>((resolve) => {
        if (this.#steps % 64 === 0) setImmediate(resolve);
        else process.nextTick(resolve);
      });
    }
    this.#isRunning = false;
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
