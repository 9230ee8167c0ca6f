import { Session } from "node:inspector";
import type { ContextClass } from "../model/context.js";

const HELD = Symbol.for("headwater.kit.class");

/** The address of the file that a class is in, as the engine knows it; null if it is in none. */
export function sourceOf(cls: ContextClass): string | null {
  const session = new Session();
  session.connect();
  try {
    Object.defineProperty(globalThis, HELD, { value: cls, configurable: true });
    const script = scriptOf(session);
    const urls = new Map<string, string>();
    session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
    session.post("Debugger.enable");
    const url = script === null ? "" : (urls.get(script) ?? "");
    return url.startsWith("file:") ? (url.split("?")[0] ?? null) : null;
  } finally {
    Reflect.deleteProperty(globalThis, HELD);
    session.disconnect();
  }
}

/** Answers come before `post` returns: the session is one of this thread. */
function scriptOf(session: Session): string | null {
  let id: string | undefined;
  let script: string | null = null;
  session.post(
    "Runtime.evaluate",
    { expression: 'globalThis[Symbol.for("headwater.kit.class")]' },
    (_, answer) => {
      id = answer?.result.objectId;
    },
  );
  if (id === undefined) return null;
  session.post("Runtime.getProperties", { objectId: id, ownProperties: true }, (_, answer) => {
    const location = answer?.internalProperties?.find(({ name }) => name === "[[FunctionLocation]]");
    const value = location?.value?.value as { readonly scriptId?: string } | undefined;
    script = value?.scriptId ?? null;
  });
  return script;
}
