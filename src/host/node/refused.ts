import { HeadwaterError } from "../../errors.js";
import type { Method } from "../../model/shape.js";
import type { Feed } from "../../observe/index.js";
import type { Slot } from "../context/index.js";

/** A request was refused before it became an event. */
export function noteRefusal(feed: Feed, error: unknown, slot: Slot, { name }: Method): void {
  if (!(error instanceof HeadwaterError) || !feed.wants("refused")) return;
  feed.note({ kind: "refused", what: "request", code: error.code, from: null, target: `${slot}.${name}` });
}
