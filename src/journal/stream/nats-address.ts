import { HeadwaterError } from "../../errors.js";

/** Where a log is: NATS servers, the cluster's name, and on how many servers each message is kept. */
export interface NatsAddress {
  readonly hosts: readonly string[];
  readonly isTls: boolean;
  readonly name: string;
  /** Which of the cluster's logs; empty for its own, which every cluster has. */
  readonly log: string;
  readonly replicas: number;
  /** As it may be shown. */
  readonly shown: string;
}

const ADDRESS = /^(nats|tls):\/\/([^/?#]+)(?:\/([^?#]*))?(?:\?(.*))?$/;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const DEFAULT_NAME = "headwater";
const DEFAULT_REPLICAS = 3;

export function isNatsAddress(address: string): boolean {
  return /^(nats|tls):\/\//.test(address);
}

/** Reads `nats://HOST:PORT,HOST:PORT/NAME?replicas=3`. */
export function natsAddress(address: string): NatsAddress {
  const [, scheme, hosts = "", path = "", query = ""] = ADDRESS.exec(address) ?? [];
  if (scheme === undefined) throw unusable("it is not of the form nats://HOST:PORT,HOST:PORT/NAME");
  if (hosts.includes("@"))
    throw unusable(
      "it has a user or a token in it, which would end up in logs. Set HEADWATER_NATS_USER and HEADWATER_NATS_PASSWORD, " +
        "HEADWATER_NATS_TOKEN, or HEADWATER_NATS_CREDS (a file) instead",
    );
  const name = path === "" ? DEFAULT_NAME : path;
  if (!NAME.test(name))
    throw unusable(`${JSON.stringify(name)} cannot name a cluster: letters, digits, _ and - can`);
  const replicas = replicasIn(query);
  return {
    hosts: hosts.split(","),
    isTls: scheme === "tls",
    name,
    log: "",
    replicas,
    shown: `${scheme}://${hosts}/${name}`,
  };
}

/** Another log of the same cluster. */
export function otherLog(address: NatsAddress, log: string): NatsAddress {
  return { ...address, log, shown: `${address.shown} (log ${log})` };
}

function replicasIn(query: string): number {
  let replicas = DEFAULT_REPLICAS;
  for (const [key, value] of new URLSearchParams(query)) {
    if (key !== "replicas") throw unusable(`there is no setting ${JSON.stringify(key)}; there is "replicas"`);
    replicas = Number(value);
    if (![1, 3, 5].includes(replicas))
      throw unusable(`replicas must be 1, 3 or 5, not ${JSON.stringify(value)}`);
  }
  return replicas;
}

function unusable(why: string): HeadwaterError {
  return new HeadwaterError("HW-3101", `the address of the NATS servers cannot be used: ${why}.`);
}
