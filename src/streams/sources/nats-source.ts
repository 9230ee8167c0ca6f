import { type ConsumerMessages, DeliverPolicy, jetstream } from "@nats-io/jetstream";
import { connect, type NatsConnection, type Subscription } from "@nats-io/transport-node";
import { natsOptions } from "../delivery/index.js";
import { pathOf, type SourceDefinition, type SourcePolicy } from "./definition.js";
import type { Intake, RunningSource, SourceMessage } from "./source.js";

const BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 10_000;
const BATCH_MESSAGES = 1000;
/** What may wait of a plain subject, whose server does not wait for a reader. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Messages of a JetStream stream or of a plain subject, each with one or more lines of NDJSON.
 *
 * From JetStream each message is taken exactly once: the sequence number of the last one is kept with its rows in one event, and reading
 * goes on behind it, after lost connections and restarts. What the server has deleted before it was read is missing.
 * From a plain subject messages are taken at most once: messages that come while the service is down, restarts or is too slow are lost.
 */
export class NatsSource implements RunningSource {
  readonly port = null;
  readonly #url: URL;
  readonly #running: Promise<void>;
  #connection: NatsConnection | null = null;
  #isStopped = false;
  #wake: () => void = () => {};

  constructor(
    readonly definition: SourceDefinition,
    readonly policy: SourcePolicy,
    readonly intake: Intake,
  ) {
    this.#url = new URL(definition.from);
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    for (let failures = 0; !this.#isStopped; failures++) {
      try {
        const connection = await connect(await natsOptions(this.#url, this.definition.secrets, this.policy));
        this.#connection = connection;
        if (this.#url.protocol === "jetstream:") await this.#stored(connection, () => (failures = 0));
        else await this.#plain(connection, () => (failures = 0));
        if (!this.#isStopped) throw new Error("the connection to NATS ended");
      } catch (error) {
        if (this.#isStopped) break;
        this.intake.failed(error);
        await this.#connection?.close().catch(() => {});
        await this.#pause(Math.min(BACKOFF_MS * 2 ** Math.min(failures, 10), BACKOFF_MS_MAX));
      }
    }
    await this.#connection?.close().catch(() => {});
  }

  async #stored(connection: NatsConnection, went: () => void): Promise<void> {
    const position = await this.intake.position();
    const start =
      position === null
        ? { deliver_policy: DeliverPolicy.All }
        : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: position + 1 };
    const consumer = await jetstream(connection).consumers.get(pathOf(this.#url), start);
    const ended = connection.closed();
    while (!this.#isStopped && !connection.isClosed()) {
      const fetched: ConsumerMessages = await consumer.fetch({ max_messages: BATCH_MESSAGES, expires: 1000 });
      void ended.then(() => fetched.stop());
      const messages: SourceMessage[] = [];
      let last: number | null = null;
      for await (const message of fetched) {
        messages.push({ bytes: Buffer.from(message.data), place: `sequence ${message.seq}` });
        last = message.seq;
        if (message.info.pending === 0) fetched.stop();
      }
      if (last === null) continue;
      await this.intake.take(messages, last);
      went();
    }
  }

  async #plain(connection: NatsConnection, went: () => void): Promise<void> {
    let waiting: SourceMessage[] = [];
    let bytes = 0;
    let lost = 0;
    const subscription: Subscription = connection.subscribe(pathOf(this.#url), {
      callback: (error, message) => {
        if (error !== null) return;
        if (bytes + message.data.length > WAITING_BYTES_MAX) lost++;
        else {
          waiting.push({ bytes: Buffer.from(message.data), place: message.subject });
          bytes += message.data.length;
        }
        this.#wake();
      },
    });
    void connection.closed().then(() => this.#wake());
    await connection.flush();
    while (!this.#isStopped && !connection.isClosed()) {
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const messages = waiting;
      [waiting, bytes] = [[], 0];
      await this.intake.take(messages, null);
      went();
      if (lost > 0)
        this.intake.failed(new Error(`${lost} messages came faster than they were taken, and are lost`));
      lost = 0;
    }
    subscription.unsubscribe();
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#wake();
    await this.#connection?.close().catch(() => {});
    await this.#running;
  }
}
