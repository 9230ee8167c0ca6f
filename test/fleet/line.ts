import assert from "node:assert/strict";
import type { Key } from "headwater";
import { Slot } from "#src/host/context/slot.js";
import { Inbox } from "#src/host/wire/inbox.js";
import { Outbox } from "#src/host/wire/outbox.js";
import { at, type ToHead, type ToHost } from "#src/host/wire/wire.js";
import type { ContextClass } from "#src/model/context.js";
import { keyFrom } from "#src/model/key.js";
import { pathOf } from "#src/model/path.js";

/** The two ends of a connection: each has a tree of its own. */
export function line<M extends ToHost | ToHead>(cls: unknown) {
  const roots = () => new Map([["Root", new Slot("Root", null, null, undefined, cls as ContextClass)]]);
  const [here, there] = [roots(), roots()];
  const heard: M[] = [];
  const outbox = new Outbox<M>();
  const inbox = new Inbox<M>(
    () => there,
    (message) => heard.push(message),
  );
  const root = here.get("Root") as Slot;
  const child = (key: Key): Slot => {
    const [slot] = root.shape.slots;
    assert.ok(slot !== undefined);
    return root.child(slot, keyFrom(typeof key === "object" ? [...key] : [key], slot.field));
  };
  return {
    outbox,
    inbox,
    root,
    child,
    thereOf: (slot: Slot) => at("Root", throughUtf8(pathOf(slot)), there),
    pass: () => {
      inbox.open(outbox.batch(3));
      while (inbox.next());
      return heard.splice(0);
    },
  };
}

/** What becomes of plain data that travels as UTF-8. */
function throughUtf8<T>(data: T): T {
  const text = (part: unknown): unknown => {
    if (typeof part === "string") return Buffer.from(part).toString();
    if (Array.isArray(part)) return part.map(text);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, text(item)]));
  };
  return text(data) as T;
}
