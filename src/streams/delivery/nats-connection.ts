import type { NatsConnection } from "@nats-io/transport-node";
import { type AddressPolicy, allowedAddresses } from "./addresses.js";

const CONNECT_MS = 5000;
const PORT = 4222;

/**
 * A connection to a NATS server that a tenant has named, at an address that was checked: the server's own list of others is not followed,
 * and a lost connection is not made again by the client, so that the next one is checked, too.
 */
export async function natsConnection(
  { hostname, port }: URL,
  { user, pass, token }: Readonly<Record<string, string>>,
  policy: AddressPolicy,
): Promise<NatsConnection> {
  const [found] = await allowedAddresses(hostname, policy);
  const host = found?.family === 6 ? `[${found.address}]` : (found?.address ?? hostname);
  const { connect } = await import("@nats-io/transport-node");
  return await connect({
    ...{ servers: `${host}:${port === "" ? PORT : port}`, timeout: CONNECT_MS },
    ...{ reconnect: false, ignoreClusterUpdates: true, pingInterval: 5000, maxPingOut: 2 },
    ...(user === undefined ? {} : { user }),
    ...(pass === undefined ? {} : { pass }),
    ...(token === undefined ? {} : { token }),
  });
}
