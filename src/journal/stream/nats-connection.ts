import { readFile } from "node:fs/promises";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { HeadwaterError } from "../../errors.js";
import type { NatsAddress } from "./nats-address.js";

/** Versions before have lost acknowledged messages when servers were killed. */
const VERSION_MIN = [2, 15] as const;

/** Connects, and refuses servers that lose data. The packages are loaded by programs that name NATS, and by no others. */
export async function connectTo(address: NatsAddress, { isAlone = false } = {}): Promise<NatsConnection> {
  const { connect } = await import("@nats-io/transport-node");
  let connection: NatsConnection;
  try {
    // A server names the others of its cluster, and a connection would go on to them.
    const only = isAlone ? { ignoreClusterUpdates: true, reconnect: false } : {};
    connection = await connect({ ...(await optionsFor(address)), ...only });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HeadwaterError(
      "HW-3102",
      `no NATS server of ${address.shown} could be reached (${why}). Nothing was changed. Start the servers, or correct the ` +
        "address or the credentials (HEADWATER_NATS_USER and HEADWATER_NATS_PASSWORD, HEADWATER_NATS_TOKEN, or " +
        "HEADWATER_NATS_CREDS).",
      { cause: error },
    );
  }
  const refusal = refusalOf(connection, address);
  if (refusal === null) return connection;
  await connection.close();
  throw refusal;
}

function refusalOf(connection: NatsConnection, { shown }: NatsAddress): HeadwaterError | null {
  const { version = "", jetstream } = connection.info ?? {};
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]);
  const wanted = VERSION_MIN.join(".");
  if (!isNewEnough)
    return new HeadwaterError(
      "HW-3103",
      `the NATS server of ${shown} has version ${version}, and data is safe with ${wanted} or later. Nothing was changed. ` +
        "Upgrade all servers.",
    );
  if (jetstream !== true)
    return new HeadwaterError(
      "HW-3103",
      `the NATS server of ${shown} has no JetStream. Nothing was changed. Add a jetstream section to its configuration.`,
    );
  return null;
}

async function optionsFor({ hosts, isTls }: NatsAddress): Promise<ConnectionOptions> {
  const { credsAuthenticator } = await import("@nats-io/transport-node");
  const {
    HEADWATER_NATS_USER: user,
    HEADWATER_NATS_PASSWORD: pass,
    HEADWATER_NATS_TOKEN: token,
    HEADWATER_NATS_CREDS: creds,
  } = process.env;
  return {
    servers: [...hosts],
    name: "headwater",
    timeout: 3000,
    pingInterval: 1000,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    ...(isTls ? { tls: {} } : {}),
    ...(user === undefined ? {} : { user, pass: pass ?? "" }),
    ...(token === undefined ? {} : { token }),
    ...(creds === undefined ? {} : { authenticator: credsAuthenticator(await readFile(creds)) }),
  };
}
