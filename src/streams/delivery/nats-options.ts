import { type AddressPolicy, allowedAddresses } from "./addresses.js";

const CONNECT_MS = 5000;
const PORT = 4222;

/** What `connect` of the NATS client takes. */
export interface NatsOptions {
  readonly servers: string;
  readonly timeout: number;
  readonly reconnect: boolean;
  readonly ignoreClusterUpdates: boolean;
  readonly pingInterval: number;
  readonly maxPingOut: number;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

/**
 * How to connect to a NATS server that a tenant has named, at an address that was checked: the server's own list of others is not followed,
 * and a lost connection is not made again by the client, so that the next one is checked, too.
 */
export async function natsOptions(
  { hostname, port }: URL,
  { user, pass, token }: Readonly<Record<string, string>>,
  policy: AddressPolicy,
): Promise<NatsOptions> {
  const [found] = await allowedAddresses(hostname, policy);
  const host = found?.family === 6 ? `[${found.address}]` : (found?.address ?? hostname);
  return {
    ...{ servers: `${host}:${port === "" ? PORT : port}`, timeout: CONNECT_MS },
    ...{ reconnect: false, ignoreClusterUpdates: true, pingInterval: 5000, maxPingOut: 2 },
    ...(user === undefined ? {} : { user }),
    ...(pass === undefined ? {} : { pass }),
    ...(token === undefined ? {} : { token }),
  };
}
