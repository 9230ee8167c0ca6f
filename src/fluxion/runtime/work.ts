import type { ReceiverKind } from "./manifest.js";
import { type Parcel, packReport, unpackInputs } from "./parcel.js";
import { Recording } from "./recorder.js";
import { StageRefusal } from "./refusal.js";

/** A stage as generated modules have it. */
export type StageFunction = (inputs: readonly unknown[], receivers: readonly unknown[]) => unknown;

/** A stage in this thread, and what it has effects on. */
export interface FoundStage {
  readonly run: StageFunction;
  readonly receivers: readonly ReceiverKind[];
}

/**
 * Runs one stage in this thread, and gives its report at once unless the stage awaits. It never throws: what the stage
 * throws is a part of the report.
 */
export function perform(find: () => FoundStage, parcel: Parcel): Parcel | Promise<Parcel> {
  const began = performance.now();
  return reported(() => {
    const { run, receivers } = find();
    const inputs = unpackInputs(parcel);
    const recording = new Recording(receivers);
    const before = performance.eventLoopUtilization();
    let value: unknown;
    let isAsync: boolean;
    try {
      value = run(inputs, recording.receivers);
      isAsync = typeof (value as { then?: unknown } | null | undefined)?.then === "function";
    } catch (error) {
      if (error instanceof StageRefusal) throw error;
      return report(recording, false, error, performance.now() - began);
    }
    if (!isAsync) return report(recording, true, value, performance.now() - began);
    const ended = (ok: boolean) => (result: unknown) => {
      const busyMs = performance.eventLoopUtilization(before).active;
      return reported(() => report(recording, ok, result, busyMs));
    };
    return Promise.resolve(value).then(ended(true), ended(false));
  });
}

function report(recording: Recording, ok: boolean, value: unknown, busyMs: number): Parcel {
  recording.end();
  if (recording.refusal !== null) throw recording.refusal;
  const receiver = recording.receivers.indexOf(value);
  const returned = receiver < 0 ? { value } : { value: undefined, receiver };
  return packReport({ ok, ...returned, effects: recording.effects, busyMs });
}

function reported<T>(made: () => T): T | Parcel {
  try {
    return made();
  } catch (error) {
    if (!(error instanceof StageRefusal)) throw error;
    return packReport({ refused: error.message });
  }
}
