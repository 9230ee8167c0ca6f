import { jetstream } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import { type AddressPolicy, allowedAddresses } from "./addresses.js";
import { type OutputDefinition, subjectOf } from "./definition.js";
import type { Batched, OutputTarget } from "./target.js";

const CONNECT_MS = 5000;

/**
 * Rows as messages on a subject, one each, with the header `Nats-Msg-Id: STREAM:NUMBER`. Over JetStream a row counts as delivered when it is
 * stored, and the server drops a message whose id it has seen within its duplicate window: exactly once as long as a restart takes less
 * than that. Messages are published one after the other, because one of several in flight can fail and would come behind the others.
 * On a plain subject rows count as delivered when the server has them: who subscribes later does not get them.
 */
export class NatsTarget implements OutputTarget {
  readonly format = "ndjson";
  readonly isKeyed = false;
  readonly #url: URL;
  #connection: NatsConnection | null = null;

  constructor(
    readonly definition: OutputDefinition,
    readonly policy: AddressPolicy,
  ) {
    this.#url = new URL(definition.target);
  }

  async send({ stream, first, lines }: Batched, signal: AbortSignal): Promise<null> {
    const connection = await this.#connected();
    const subject = subjectOf(this.#url);
    const publisher = this.#url.protocol === "jetstream:" ? jetstream(connection) : null;
    const drop = () => void connection.close().catch(() => {});
    signal.addEventListener("abort", drop, { once: true });
    try {
      for (const [i, line] of lines.entries()) {
        const id = `${stream}:${first + i}`;
        if (publisher !== null) await publisher.publish(subject, line, { msgID: id });
        else {
          const own = headers();
          own.set("Nats-Msg-Id", id);
          connection.publish(subject, line, { headers: own });
        }
      }
      await connection.flush();
      return null;
    } finally {
      signal.removeEventListener("abort", drop);
    }
  }

  /** To an address that was checked: the server's own list of others is not followed. */
  async #connected(): Promise<NatsConnection> {
    if (this.#connection !== null && !this.#connection.isClosed()) return this.#connection;
    const [found] = await allowedAddresses(this.#url.hostname, this.policy);
    const host = found?.family === 6 ? `[${found.address}]` : (found?.address ?? this.#url.hostname);
    const { user, pass, token } = this.definition.secrets;
    this.#connection = await connect({
      ...{ servers: `${host}:${this.#url.port === "" ? 4222 : this.#url.port}`, timeout: CONNECT_MS },
      ...{ reconnect: false, ignoreClusterUpdates: true, pingInterval: 5000, maxPingOut: 2 },
      ...(user === undefined ? {} : { user }),
      ...(pass === undefined ? {} : { pass }),
      ...(token === undefined ? {} : { token }),
    });
    return this.#connection;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = null;
  }
}
