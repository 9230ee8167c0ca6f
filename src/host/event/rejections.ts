import { HeadwaterError } from "../../errors.js";
import type { Address } from "../../model/address.js";
import type { ContextClass } from "../../model/context.js";
import { type Where, wasHandedOut, whereGiven } from "../../model/inside.js";
import { inspectTree, type Shape } from "../../model/shape.js";

/** A program that wants to know of unhandled rejections. */
interface Claim {
  /** Are contexts of this tree run here? */
  owns(address: Address): boolean;
  /** The classes of its roots. */
  readonly roots: readonly ContextClass[];
  report(rejection: HeadwaterError): void;
  /** Is all code of this process a program's? */
  readonly isHost: boolean;
}

const claims = new Set<Claim>();

const NOWHERE: Where = { address: null, method: null };

/**
 * Hears of promises in the code of contexts that were rejected without being awaited or caught. Node would end the
 * process. Whatever is not known to come from a context stays Node's business, and that of the application's own listeners.
 * Returns how to stop it.
 */
export function claimRejections(claim: Claim): () => void {
  if (claims.size === 0) process.on("unhandledRejection", unhandled);
  claims.add(claim);
  return () => {
    claims.delete(claim);
    if (claims.size === 0) process.off("unhandledRejection", unhandled);
  };
}

function unhandled(reason: unknown): void {
  const given = whereGiven(reason);
  if (given !== null && reason instanceof HeadwaterError && reason.code === "HW-1026") return; // its event has failed for it
  for (const claim of claims) {
    const where = given ?? methodInStack(reason, claim.roots);
    if (!claim.isHost && (where === null || (where.address !== null && !claim.owns(where.address)))) continue;
    return claim.report(reported(reason, where ?? NOWHERE));
  }
  if (process.listenerCount("unhandledRejection") === 1 && isFatal()) throw reason;
}

/**
 * The method of a context that has made the error, itself or by what it has called or awaits. V8 writes `Class.method` into
 * stacks in every case: before and after an `await`, with source maps and without, and also if the names are a minifier's.
 * Nothing has to be noted for that while events run.
 */
function methodInStack(reason: unknown, roots: readonly ContextClass[]): Where | null {
  if (!(reason instanceof Error) || wasHandedOut(reason) || typeof reason.stack !== "string") return null;
  const methods = new Set(roots.flatMap((root) => inspectTree(root)).flatMap(namesInStacks));
  for (const [, name = ""] of reason.stack.matchAll(/^ +at (?:async )?([^\s(]+)/gm)) {
    if (methods.has(name)) return { address: null, method: { name } };
  }
  return null;
}

/** An instance of a class without a name is taken for one of the class above it. */
function namesInStacks({ cls, methods }: Shape): string[] {
  let named: ContextClass = cls;
  while (named.name === "") named = Object.getPrototypeOf(named) as ContextClass;
  return [...methods.keys()].map((method) => `${named.name}.${method}`);
}

/** What Node does without a listener, unless it was told otherwise. */
function isFatal(): boolean {
  const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  const [, mode = "throw"] = /--unhandled-rejections[= ]([\w-]+)/.exec(options) ?? [];
  return mode === "throw" || mode === "strict";
}

function reported(reason: unknown, { address, method }: Where): HeadwaterError {
  const where = [address, method?.name].filter((part) => part != null).join(".") || "the code of a context";
  const what = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
  return new HeadwaterError(
    "HW-1028",
    `a promise was rejected in ${where}, and it was not awaited or caught. Write \`await\` before the call that it came ` +
      `from, or handle the error there. It was: ${what}`,
    { cause: reason },
  );
}
