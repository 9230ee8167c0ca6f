import type { HeadwaterError } from "../../errors.js";
import { GiveUp, type Outside, type OutsideCall, type OutsideResult } from "../../model/outside.js";
import type { Method } from "../../model/shape.js";
import type { Feed, TraceLink } from "../../observe/index.js";
import { copy } from "../../state/values.js";
import type { Slot } from "../context/index.js";
import type { Limits, Ports } from "../ports/index.js";

/** A call that a committed event has asked for. */
export interface PendingCall {
  readonly outside: Outside<never, unknown>;
  readonly input: unknown;
  /** The context whose event takes the result, and the method that it starts with, if any does. */
  readonly slot: Slot;
  readonly method: Method | null;
  /** What the method gets besides the result. */
  readonly args: unknown[];
  /** The event that asked for it, and the position among what that asked for. */
  readonly parent: number;
  readonly index: number;
  /** An older version has asked for it, and may have made it under the key that it had there. */
  readonly isOld?: boolean;
}

const BACKOFF_MS_MAX = 60_000;

/** Makes outside calls, some at a time, again and again until they succeed or there is no point in it. */
export class OutsideCalls {
  readonly #waiting = new Set<{ readonly call: PendingCall; readonly attempt: number }>();
  readonly #running = new Set<OutsideAttempt>();
  /** How to call off what is to be tried again. */
  readonly #pausing = new Set<() => void>();
  #isStopped = false;

  constructor(
    readonly history: string,
    readonly ports: Ports,
    readonly limits: Limits,
    /** Its link to traces, if there is one, has each call made within the trace of the event that asked for it. */
    readonly feed: Pick<Feed, "link">,
    readonly done: (call: PendingCall, result: OutsideResult<unknown>) => void,
  ) {}

  /** Calls that have no result yet. */
  get count(): number {
    return this.#waiting.size + this.#running.size + this.#pausing.size;
  }

  add(call: PendingCall): void {
    this.#enqueue(call, 1);
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const callOff of this.#pausing) callOff();
    for (const attempt of this.#running) attempt.abort(new Error("the program has stopped"));
  }

  #enqueue(call: PendingCall, attempt: number): void {
    this.#waiting.add({ call, attempt });
    this.#goOn();
  }

  #goOn(): void {
    for (const next of this.#waiting) {
      if (this.#isStopped || this.#running.size >= this.limits.outsideAtOnce) return;
      this.#waiting.delete(next);
      void this.#try(next.call, next.attempt);
    }
  }

  async #try(call: PendingCall, attempt: number): Promise<void> {
    const running = new OutsideAttempt(keyOfCall(this.history, call), attempt);
    this.#running.add(running);
    const { attempts, timeoutMs } = call.outside.options;
    const callOff = this.ports.at(this.ports.now() + timeoutMs, () =>
      running.abort(new Error(`it took longer than ${timeoutMs} ms`)),
    );
    const { result, isFinal } = await resultOf(call, running, this.ports, this.feed.link);
    callOff();
    this.#running.delete(running);
    if (this.#isStopped) return;
    if (isFinal || attempt >= attempts) this.done(call, result);
    else this.#tryAgain(call, attempt);
    this.#goOn();
  }

  #tryAgain(call: PendingCall, attempt: number): void {
    const wait = Math.min(call.outside.options.backoffMs * 2 ** (attempt - 1), BACKOFF_MS_MAX);
    const callOff = this.ports.at(this.ports.now() + wait, () => {
      this.#pausing.delete(callOff);
      this.#enqueue(call, attempt + 1);
    });
    this.#pausing.add(callOff);
  }
}

/** Tickets begin anew with each journal, so only the history makes the key one that no other program ever uses. */
function keyOfCall(history: string, { slot, parent, index, isOld }: PendingCall): string {
  const position = `${slot.node}/${parent}/${index}`;
  return isOld === true ? position : `${history}/${position}`;
}

/** What an outside function is told about one attempt. Few ask for the signal, and making one takes long. */
class OutsideAttempt implements OutsideCall {
  #controller: AbortController | null = null;
  #aborted: { readonly reason: Error } | null = null;
  onAbort: ((reason: Error) => void) | null = null;

  constructor(
    readonly key: string,
    readonly attempt: number,
  ) {}

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#aborted !== null) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    if (this.#aborted !== null) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
    this.onAbort?.(reason);
  }
}

/** The function's own result, or that the attempt was aborted, whichever comes first. */
async function resultOf(
  call: PendingCall,
  attempt: OutsideAttempt,
  ports: Ports,
  link: TraceLink | null,
): Promise<{ result: OutsideResult<unknown>; isFinal: boolean }> {
  let value: unknown;
  try {
    const input = copy(call.input, () => "the input");
    const { name } = call.outside;
    const make = () => call.outside.work(input as never, attempt);
    const begin = () =>
      ports.callOutside === undefined ? make() : ports.callOutside(name, input, attempt, make);
    const work = link === null ? begin() : link.within(call.slot.node, call.parent, begin);
    value = await new Promise((resolve, reject) => {
      attempt.onAbort = reject;
      Promise.resolve(work).then(resolve, reject);
    });
  } catch (error) {
    return { result: failed(error), isFinal: error instanceof GiveUp };
  }
  try {
    const copied = copy(value, () => `the result of the outside function "${call.outside.name}"`);
    return { result: { ok: true, value: copied }, isFinal: true };
  } catch (error) {
    return { result: failed(error as HeadwaterError), isFinal: true };
  }
}

function failed(error: unknown): OutsideResult<unknown> {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return { ok: false, error: { name, message } };
}
