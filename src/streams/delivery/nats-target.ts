import { jetstream } from "@nats-io/jetstream";
import { connect, headers, type NatsConnection } from "@nats-io/transport-node";
import type { AddressPolicy } from "./addresses.js";
import { type OutputDefinition, subjectOf } from "./definition.js";
import { natsOptions } from "./nats-options.js";
import type { Batched, OutputTarget } from "./target.js";

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

  async send(batch: Batched, signal: AbortSignal): Promise<null> {
    const connection = await this.#connected();
    const drop = () => void connection.close().catch(() => {});
    signal.addEventListener("abort", drop, { once: true });
    // A flush that a lost connection has interrupted never ends.
    const ended = connection.closed().then((error) => {
      throw error ?? new Error("the connection to NATS ended");
    });
    const published = this.#publish(connection, batch);
    try {
      await Promise.race([published, ended]);
      return null;
    } finally {
      signal.removeEventListener("abort", drop);
      for (const each of [published, ended]) each.catch(() => {});
    }
  }

  async #publish(connection: NatsConnection, { stream, first, lines }: Batched): Promise<void> {
    const subject = subjectOf(this.#url);
    const publisher = this.#url.protocol === "jetstream:" ? jetstream(connection) : null;
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
  }

  async #connected(): Promise<NatsConnection> {
    if (this.#connection === null || this.#connection.isClosed())
      this.#connection = await connect(await natsOptions(this.#url, this.definition.secrets, this.policy));
    return this.#connection;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = null;
  }
}
