import type { Slot } from "../host/context/index.js";
import { pathOf } from "../model/path.js";
import { INVOKE, type InvocationScope, reference } from "../model/refs.js";
import { Random } from "../random.js";
import type { World } from "../sim/world/index.js";
import { asError, type RunFailure } from "./failure.js";
import { at, type CodePlace } from "./globals.js";
import type { ActingCaller, KitOptions, OutsideFakes } from "./options.js";
import type { Schedule } from "./schedule.js";

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The callers of a simulated program: what they do, and what they wait for. */
export class SimulatedCallers<R, W extends OutsideFakes> {
  readonly names: readonly string[];
  readonly #waiting = new Map<number, Waiting>();
  readonly #messages = new Map<string, unknown[]>();
  #left: number;
  #doneAt: number | null = null;

  constructor(
    readonly world: () => World,
    readonly options: KitOptions<R, W>,
    readonly schedule: Schedule,
    readonly roots: Readonly<Record<string, Slot>>,
    readonly fakes: W,
    readonly place: CodePlace,
    readonly found: (found: RunFailure) => void,
  ) {
    const count = Math.max(1, options.callers ?? 3);
    this.names = Array.from({ length: count }, (_, index) => `caller${index + 1}`);
    this.#left = count;
  }

  /** When the last of them had done its acts; null while one still acts. */
  get doneAt(): number | null {
    return this.#doneAt;
  }

  get open(): number {
    return this.#left;
  }

  async begin(): Promise<void> {
    const [first = ""] = this.names;
    const { start } = this.options;
    if (start !== undefined) await this.#act(() => start(this.#caller(first, -1)));
    await Promise.all(this.names.map((name, index) => this.#actAll(name, index)));
    this.#doneAt = this.world().now;
  }

  async #actAll(name: string, index: number): Promise<void> {
    const acts = this.schedule.acts.filter((act) => act % this.names.length === index);
    for (const act of acts) await this.#act(() => this.options.act(this.#caller(name, act)));
    this.#left -= 1;
  }

  async #act(act: () => unknown): Promise<void> {
    try {
      await at(this.place, act);
    } catch (thrown) {
      const error = asError(thrown);
      if (this.options.allow?.(error) !== true) this.found({ kind: "act", error });
    }
  }

  answered(request: number, isDone: boolean, value: unknown): void {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    if (isDone) waiting?.resolve(value);
    else waiting?.reject(value);
  }

  told(client: string, message: unknown): void {
    this.#messagesOf(client).push(message);
  }

  #messagesOf(client: string): unknown[] {
    const messages = this.#messages.get(client) ?? [];
    this.#messages.set(client, messages);
    return messages;
  }

  #caller(name: string, index: number): ActingCaller<R, W> {
    const scope: InvocationScope = {
      [INVOKE]: (target, method, args) =>
        new Promise((resolve, reject) => {
          const request = {
            node: target.node,
            path: pathOf(target),
            method: method.name,
            args,
            client: name,
            after: null,
          };
          this.#waiting.set(this.world().request(request), { resolve, reject });
        }),
    };
    const roots = Object.entries(this.roots).map(([node, slot]) => [node, reference(scope, slot)] as const);
    const [[, only] = []] = roots;
    return {
      root: (roots.length === 1 ? only : Object.fromEntries(roots)) as R,
      random: new Random(this.schedule.seed * 1_000_003 + index),
      index,
      name,
      messages: this.#messagesOf(name),
      world: this.fakes,
    };
  }
}
