import { isIP } from "node:net";
import { HeadwaterError } from "../../errors.js";
import { type AddressPolicy, isPrivate, notAllowed, shownTarget } from "../delivery/index.js";

export interface SourcePolicy extends AddressPolicy {
  /** May tenants have TCP ports opened on this machine's loopback interface? */
  readonly isListeningAllowed: boolean;
}

export interface SourceOptions {
  readonly name?: string;
  /** `user`, `pass` and `token` for NATS. They are kept, and never shown again. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A source as it is kept. */
export interface SourceDefinition {
  readonly name: string;
  readonly stream: string;
  readonly from: string;
  readonly secrets: Readonly<Record<string, string>>;
}

const NAME = /^[a-z][a-z0-9_]{0,49}$/;
const SUBJECT = /^[^\s.]+(\.[^\s.]+)*$/;
const STREAM = /^[^\s.*>/\\]+$/;

/** The definition of a source, checked. */
export function checkedSource(
  name: string,
  stream: string,
  from: string,
  secrets: Readonly<Record<string, string>>,
  policy: SourcePolicy,
): SourceDefinition {
  if (!NAME.test(name))
    throw misdefined(
      `${shown(name)} cannot be the name of a source: a small letter, then small letters, digits and "_", at most 50.`,
    );
  const url = URL.canParse(from) && from.length <= 2000 ? new URL(from) : null;
  if (url === null || !/^(nats|jetstream|tcp):$/.test(url.protocol) || url.hostname === "")
    throw misdefined(
      `${shown(shownTarget(from))} is no source: nats://HOST:PORT/SUBJECT, jetstream://HOST:PORT/STREAM or tcp://127.0.0.1:PORT.`,
    );
  if (url.username !== "" || url.password !== "")
    throw misdefined(
      "a source must not hold a user or a password, because sources are shown. Give them as secrets.",
    );
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (url.protocol === "tcp:") {
    if (!policy.isListeningAllowed)
      throw new HeadwaterError(
        "HW-5502",
        "sources that listen on a port are not allowed here. The service's operator can allow them.",
      );
    if (host !== "127.0.0.1" && host !== "[::1]" && host !== "::1")
      throw misdefined("a TCP source listens on this machine: tcp://127.0.0.1:PORT.");
    if (url.port === "")
      throw misdefined("a TCP source has a port: tcp://127.0.0.1:PORT; 0 takes one that is free.");
  } else {
    const path = pathOf(url);
    if (!(url.protocol === "nats:" ? SUBJECT : STREAM).test(path))
      throw misdefined(
        `${shown(path)} is no ${url.protocol === "nats:" ? "subject" : "name of a JetStream stream"}.`,
      );
    const isHere = isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : isPrivate(host);
    if (isHere && !policy.isPrivateAllowed) throw notAllowed(host);
  }
  return { name, stream, from, secrets: { ...secrets } };
}

export function pathOf(url: URL): string {
  return decodeURIComponent(url.pathname.slice(1));
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function misdefined(why: string): HeadwaterError {
  return new HeadwaterError("HW-5501", why);
}
