import { isIP } from "node:net";
import { HeadwaterError } from "../../errors.js";
import { type AddressPolicy, isPrivate, notAllowed } from "./addresses.js";

/** What the service's operator allows its tenants. */
export interface OutputPolicy extends AddressPolicy {
  /** Files are written below it, in a folder for each tenant; `null`: none. */
  readonly directory: string | null;
  /** Writes to stdout of the process; `null`: outputs may not. */
  readonly stdout: ((text: string) => Promise<void>) | null;
}

export interface OutputOptions {
  /** Headers of requests, or `user`, `pass` and `token` for NATS. They are kept, and never shown again. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The first row to deliver; by default the rows that come from now on. */
  readonly from?: number;
  /** How often the target may answer a batch with an error before it becomes a dead letter (20). */
  readonly attempts?: number;
  /** The wait after the first failure (500); it doubles each time, up to a minute, and is shortened by chance. */
  readonly backoffMs?: number;
  /** How long one attempt may take (30,000). */
  readonly timeoutMs?: number;
  /** At most so many rows in one batch (1,000). */
  readonly batchRows?: number;
  /** TCP: rows count as delivered when the receiver has answered with their number. */
  readonly acks?: boolean;
}

/** An output as it is kept. */
export interface OutputDefinition {
  readonly name: string;
  readonly stream: string;
  readonly target: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly attempts: number;
  readonly backoffMs: number;
  readonly timeoutMs: number;
  readonly batchRows: number;
  readonly acks: boolean;
}

const NAME = /^[A-Za-z][\w.-]{0,79}$/;
const HEADER = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
const OWN_HEADERS =
  /^(host|content-length|content-type|transfer-encoding|connection|idempotency-key|x-headwater-.*)$/i;
const FILE = /^file:(?!\/)((?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:ndjson|jsonl|csv))$/;
const SUBJECT = /^[^\s.*>]+(\.[^\s.*>]+)*$/;

const LIMITS = {
  attempts: { otherwise: 20, min: 1, max: 1000 },
  backoffMs: { otherwise: 500, min: 1, max: 60_000 },
  timeoutMs: { otherwise: 30_000, min: 10, max: 300_000 },
  batchRows: { otherwise: 1000, min: 1, max: 10_000 },
} as const;

/** The definition of an output, checked. What it names is looked up when it is delivered to. */
export function checkedOutput(
  name: string,
  stream: string,
  target: string,
  options: OutputOptions,
  policy: OutputPolicy,
): OutputDefinition {
  if (!NAME.test(name))
    throw misdefined(
      `${shown(name)} cannot be a name: a letter, then letters, digits, "_", "-" and ".", at most 80.`,
    );
  const { secrets = {}, acks = false } = options;
  checkTarget(target, policy);
  const isHttp = /^https?:/.test(target);
  for (const [header, value] of Object.entries(secrets)) {
    if (isHttp && (!HEADER.test(header) || OWN_HEADERS.test(header)))
      throw misdefined(`${shown(header)} cannot be a header of an output.`);
    if (!/^[\t\x20-\x7e\x80-\xff]{0,8192}$/.test(value))
      throw misdefined(`the value of ${shown(header)} is too long or holds what a header cannot hold.`);
  }
  return {
    ...{ name, stream, target, secrets: { ...secrets }, acks },
    attempts: within("attempts", options.attempts),
    backoffMs: within("backoffMs", options.backoffMs),
    timeoutMs: within("timeoutMs", options.timeoutMs),
    batchRows: within("batchRows", options.batchRows),
  };
}

function within(option: keyof typeof LIMITS, given: number | undefined): number {
  const { otherwise, min, max } = LIMITS[option];
  if (given === undefined) return otherwise;
  if (Number.isInteger(given) && given >= min && given <= max) return given;
  throw misdefined(`${option} is a whole number from ${min} to ${max}.`);
}

function checkTarget(target: string, policy: OutputPolicy): void {
  if (target.length > 2000) throw misdefined("the target has more than 2000 characters.");
  if (target === "stdout:") {
    if (policy.stdout !== null) return;
    throw new HeadwaterError(
      "HW-5502",
      "outputs to stdout are not allowed here. The service's operator can allow them.",
    );
  }
  if (target.startsWith("file:")) {
    if (!FILE.test(target))
      throw misdefined(
        `${shown(target)} is no file: file:NAME.ndjson or file:FOLDER/NAME.csv, with letters, digits, "_", "-" and ".".`,
      );
    if (policy.directory !== null) return;
    throw new HeadwaterError(
      "HW-5502",
      "outputs to files are not allowed here. The service's operator can name a directory for them.",
    );
  }
  const url = URL.canParse(target) ? new URL(target) : null;
  if (url === null || !/^(https?|tcp|nats|jetstream):$/.test(url.protocol) || url.hostname === "")
    throw misdefined(
      `${shown(target)} is no target: http://…, https://…, tcp://HOST:PORT, nats://HOST:PORT/SUBJECT, jetstream://HOST:PORT/SUBJECT, file:NAME.ndjson or stdout:.`,
    );
  if (url.username !== "" || url.password !== "")
    throw misdefined(
      "a target must not hold a user or a password, because targets are shown. Give them as secrets.",
    );
  if (url.protocol === "tcp:" && (url.port === "" || !/^\/?$/.test(url.pathname)))
    throw misdefined("a TCP target is tcp://HOST:PORT.");
  if (/^(nats|jetstream):$/.test(url.protocol) && !SUBJECT.test(subjectOf(url)))
    throw misdefined(
      `${shown(subjectOf(url))} is no subject to publish to: words with "." between them, without * and >.`,
    );
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isHere = isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : isPrivate(host);
  if (isHere && !policy.isPrivateAllowed) throw notAllowed(host);
}

export function subjectOf(url: URL): string {
  return decodeURIComponent(url.pathname.slice(1));
}

/** A target as it is shown: without what stands behind `?`, which may be a secret. */
export function shownTarget(target: string): string {
  return target.replace(/[?#].*$/s, "?…");
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function misdefined(why: string): HeadwaterError {
  return new HeadwaterError("HW-5501", why);
}
