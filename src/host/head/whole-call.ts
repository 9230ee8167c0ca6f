import { NO_CALL } from "../event/index.js";
import type { Admitted } from "../runner/index.js";
import { type AttemptId, type ToHost, wired } from "../wire/index.js";

/** What a host is told of a call that it has made, if the call need not go anywhere. */
export function answered(run: AttemptId, ask: number, found: Exclude<Admitted, { paths: unknown }>): ToHost {
  if ("refusal" in found) return { kind: "refused", ...run, ask, error: wired(found.refusal) };
  const nothing = { effects: [], doom: null, writes: [], existing: [] };
  return { kind: "returned", ...run, ask, call: NO_CALL, ok: true, value: wired(found.page), ...nothing };
}
