import { Share } from "../model/share.js";
import type { ServerLimits } from "./limits.js";

/** What a server holds for its callers, in bytes, with a share for each of them. */
export class Budgets {
  /** Requests under way, and replies that their callers have not read. */
  readonly inFlight: Share;
  /** Messages that clients have not acknowledged. */
  readonly messages: Share;

  constructor({ inFlightBytesTotal, messageBytesTotal }: ServerLimits) {
    this.inFlight = Share.of(inFlightBytesTotal);
    this.messages = Share.of(messageBytesTotal);
  }
}

/**
 * The caller that a share belongs to: the name of its token, or the address that it calls from if the server has no tokens.
 * A caller with one IPv6 address has 2^64 of them, so there the network counts.
 */
export function callerOf(owner: string | null, address: string | undefined): string {
  if (owner !== null) return `token ${owner}`;
  const plain = (address ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  return `address ${plain.includes(":") ? networkOf(plain) : plain}`;
}

/** The first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...new Array<string>(Math.max(0, zeros)).fill("0"), ...after].slice(0, 4).join(":");
}
