import type { TimerId } from "../model/event.js";
import type { Effect } from "./effects.js";
import type { Ports } from "./ports.js";

export type Timer = Extract<Effect, { kind: "timer" }>;

/** The armed timers of a logical node. */
export class Timers {
  readonly #armed = new Map<TimerId, () => void>();

  constructor(
    readonly ports: Ports,
    readonly fire: (timer: Timer) => void,
  ) {}

  get armed(): ReadonlySet<TimerId> {
    return new Set(this.#armed.keys());
  }

  arm(timer: Timer): void {
    const goOff = () => {
      this.#armed.delete(timer.id);
      this.fire(timer);
    };
    this.#armed.set(timer.id, this.ports.at(timer.due, goOff));
  }

  disarm(id: TimerId): void {
    this.#armed.get(id)?.();
    this.#armed.delete(id);
  }

  disarmAll(): void {
    for (const callOff of this.#armed.values()) callOff();
    this.#armed.clear();
  }
}
