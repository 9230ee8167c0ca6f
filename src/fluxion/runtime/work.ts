import { decode, encode } from "./codec.js";
import type { Effect } from "./effects.js";
import type { ReceiverKind } from "./manifest.js";
import { Recording } from "./recorder.js";
import { Refusal } from "./refusal.js";
import { trimmed } from "./stack.js";

/** A stage as generated modules have it. */
export type StageFunction = (inputs: readonly unknown[], receivers: readonly unknown[]) => unknown;

/** What goes to a worker. */
export interface Task {
  readonly id: string;
  readonly kinds: readonly ReceiverKind[];
  readonly inputs: readonly unknown[];
}

/** What comes back: what the stage did, returned or threw, and how long it kept its thread busy. */
export type Report =
  | {
      readonly ok: boolean;
      readonly value: unknown;
      /** Which of its receivers the stage returned, if it did: `return res.send(x)`. */
      readonly receiver?: number;
      readonly effects: readonly Effect[];
      readonly busyMs: number;
    }
  | { readonly refused: string };

/** Runs one stage in this thread. It never throws: what the stage throws is a part of the report. */
export async function perform(bytes: Uint8Array, find: (id: string) => StageFunction): Promise<Uint8Array> {
  const before = performance.eventLoopUtilization();
  const began = performance.now();
  try {
    const { id, kinds, inputs } = decode(bytes) as Task;
    const stage = find(id);
    const recording = new Recording(kinds);
    const { ok, value, isAsync } = await outcomeOf(stage, inputs, recording);
    recording.end();
    if (recording.refusal !== null) throw recording.refusal;
    const busyMs = isAsync ? performance.eventLoopUtilization(before).active : performance.now() - began;
    const receiver = recording.receivers.indexOf(value);
    const returned = receiver < 0 ? { value } : { value: undefined, receiver };
    return encode({ ok, ...returned, effects: recording.effects, busyMs } satisfies Report);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return encode({ refused: error.message } satisfies Report);
  }
}

async function outcomeOf(stage: StageFunction, inputs: readonly unknown[], { receivers }: Recording) {
  let isAsync = false;
  try {
    const value = stage(inputs, receivers);
    isAsync = typeof (value as { then?: unknown } | null | undefined)?.then === "function";
    return { ok: true, value: isAsync ? await value : value, isAsync };
  } catch (error) {
    return { ok: false, value: trimmed(error), isAsync };
  }
}
