import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { Authenticator, ConnectionOptions, NatsConnection, TlsOptions } from "@nats-io/transport-node";
import { HeadwaterError } from "../../errors.js";
import { importPackage } from "../../packages.js";
import type { NatsAddress } from "./nats-address.js";

/** Versions before have lost acknowledged messages when servers were killed. */
const VERSION_MIN = [2, 15] as const;

/** Connects, and refuses servers that lose data. The packages are loaded by programs that name NATS, and by no others. */
export async function connectTo(address: NatsAddress, { isAlone = false } = {}): Promise<NatsConnection> {
  const { connect } = await importPackage(() => import("@nats-io/transport-node"));
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
        "address or the credentials (HEADWATER_NATS_USER and HEADWATER_NATS_PASSWORD, HEADWATER_NATS_TOKEN, HEADWATER_NATS_NKEY, or " +
        "HEADWATER_NATS_CREDS; with TLS also HEADWATER_NATS_CA, HEADWATER_NATS_CERT and HEADWATER_NATS_KEY).",
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

/** What the environment says. Secrets are in files or variables, never in addresses, which are shown. */
async function optionsFor({ hosts, isTls }: NatsAddress): Promise<ConnectionOptions> {
  const {
    HEADWATER_NATS_USER: user,
    HEADWATER_NATS_PASSWORD: pass,
    HEADWATER_NATS_TOKEN: token,
    HEADWATER_NATS_CA: caFile,
    HEADWATER_NATS_CERT: certFile,
    HEADWATER_NATS_KEY: keyFile,
  } = process.env;
  const files: TlsOptions = {
    ...(caFile && { caFile }),
    ...(certFile && { certFile }),
    ...(keyFile && { keyFile }),
  };
  const isEncrypted = isTls || Object.keys(files).length > 0;
  const tls: TlsOptions = Object.assign(files, { checkServerIdentity: identityCheck(hosts) }); // handed on to Node
  const authenticator = await authenticatorFor(process.env);
  return {
    servers: [...hosts],
    name: "headwater",
    timeout: 3000,
    pingInterval: 1000,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 100,
    ...(isEncrypted ? { tls } : {}),
    ...(user === undefined ? {} : { user, pass: pass ?? "" }),
    ...(token === undefined ? {} : { token }),
    ...(authenticator === null ? {} : { authenticator }),
  };
}

/** The client knows servers by name only. One that is addressed by its number must prove one of the numbers in the address. */
function identityCheck(hosts: readonly string[]) {
  const numbers = hosts
    .map((host) => host.replace(/:\d+$/, "").replace(/^\[|\]$/g, ""))
    .filter((host) => isIP(host) > 0);
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const wrong = checkServerIdentity(name, certificate);
    const isProved = numbers.some((number) => checkServerIdentity(number, certificate) === undefined);
    return isProved ? undefined : wrong;
  };
}

/** Signs what the server challenges with: a key of its own, or one that an account's credentials vouch for. */
async function authenticatorFor({
  HEADWATER_NATS_NKEY: nkey,
  HEADWATER_NATS_CREDS: creds,
}: NodeJS.ProcessEnv): Promise<Authenticator | null> {
  if (nkey === undefined && creds === undefined) return null;
  const { credsAuthenticator, nkeyAuthenticator } = await importPackage(
    () => import("@nats-io/transport-node"),
  );
  if (creds !== undefined) return credsAuthenticator(await readFile(creds));
  const seed = (await readFile(nkey ?? "", "utf8")).trim();
  return nkeyAuthenticator(Buffer.from(seed));
}
