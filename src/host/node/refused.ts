import { HeadwaterError } from "../../errors.js";
import type { Method } from "../../model/shape.js";
import type { Feed } from "../../observe/index.js";
import type { Slot } from "../context/index.js";

/** A request was refused before it became an event. */
export function noteRefusal(feed: Feed, error: unknown, slot: Slot, { name }: Method): void {
  if (!(error instanceof HeadwaterError) || !feed.wants("refused")) return;
  feed.note({ kind: "refused", what: "request", code: error.code, from: null, target: `${slot}.${name}` });
}

export function closed(client: string): HeadwaterError {
  return new HeadwaterError("HW-1401", `the client "${client}" was closed and makes no more requests.`);
}

export function stopped(): HeadwaterError {
  return new HeadwaterError("HW-1401", "the service has stopped and takes no more requests.");
}

export function cutOff(): HeadwaterError {
  return new HeadwaterError(
    "HW-1401",
    "the service was stopped before this request had ended. Wait for its answer first, or give `stop` a longer `graceMs`.",
  );
}
