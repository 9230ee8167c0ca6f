import { HeadwaterError } from "../../errors.js";
import type { Address } from "../../model/address.js";
import { type Where, wasHandedOut, whereGiven } from "../../model/inside.js";

/** Somebody who wants to know of rejections that nobody handles. */
interface Claim {
  /** Are contexts of this tree run here? */
  owns(address: Address): boolean;
  report(rejection: HeadwaterError): void;
  /** Is all code of this process a program's? */
  readonly isHost: boolean;
}

const claims = new Set<Claim>();

/** What runs methods, as stacks name it. */
const RUNTIME = "Frame.#runIn";
const NOWHERE: Where = { address: null, method: null };

/**
 * Hears of promises in the code of contexts that were rejected while nobody had awaited or caught them. Node would end the
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
  const where = whereGiven(reason) ?? (hasRuntimeInStack(reason) ? NOWHERE : null);
  if (where !== null && reason instanceof HeadwaterError && reason.code === "HW-1026") return; // its event has failed for it
  for (const claim of claims) {
    if (!claim.isHost && (where === null || (where.address !== null && !claim.owns(where.address)))) continue;
    return claim.report(reported(reason, where ?? NOWHERE));
  }
  if (process.listenerCount("unhandledRejection") === 1 && isFatal()) throw reason;
}

/** Was it made before the first `await` of a method, by code that the method had called? */
function hasRuntimeInStack(reason: unknown): boolean {
  return reason instanceof Error && !wasHandedOut(reason) && (reason.stack?.includes(RUNTIME) ?? false);
}

/** What Node does without a listener, unless it was told otherwise. */
function isFatal(): boolean {
  const options = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  const [, mode = "throw"] = /--unhandled-rejections[= ]([\w-]+)/.exec(options) ?? [];
  return mode === "throw" || mode === "strict";
}

function reported(reason: unknown, { address, method }: Where): HeadwaterError {
  const where =
    address === null ? "the code of a context" : `${address}${method === null ? "" : `.${method.name}`}`;
  const what = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
  return new HeadwaterError(
    "HW-1028",
    `a promise was rejected in ${where}, and nobody had awaited or caught it. Write \`await\` before the call that it came ` +
      `from, or handle the error there. It was: ${what}`,
    { cause: reason },
  );
}
