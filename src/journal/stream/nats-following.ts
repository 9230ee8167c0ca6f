import type { ConsumerMessages } from "@nats-io/jetstream";
import type { Following, LogReader } from "./log-port.js";
import type { NatsLog } from "./nats-log.js";

/** A server that says nothing for half of this is taken for dead. */
const EXPIRES_MS = 2000;
const AT_ONCE = 200;
const RETRY_MS = 50;

/** Reads a log in order. Consumers end with their servers, so each is replaced when it ends, behind the last message. */
export class NatsFollowing implements Following {
  readonly #log: NatsLog;
  readonly #reader: LogReader;
  #position: number;
  #messages: ConsumerMessages | null = null;
  #isStopped = false;

  constructor(log: NatsLog, after: number, reader: LogReader) {
    this.#log = log;
    this.#reader = reader;
    this.#position = after;
    void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    this.#messages?.stop();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && !this.#log.connection.isClosed()) {
      try {
        await this.#read();
      } catch {
        // The stream has no leader, or the consumer's server is gone: another consumer goes on from here.
      }
      if (!this.#isStopped) await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }

  async #read(): Promise<void> {
    const { log } = this.#log.names;
    const next = this.#position + 1;
    const { state } = await this.#log.manager.streams.info(log);
    if (state.first_seq > next) {
      this.#isStopped = true;
      return this.#reader.cut(state.first_seq);
    }
    const consumer = await this.#log.client.consumers.get(log, { opt_start_seq: next });
    const messages = await consumer.consume({ max_messages: AT_ONCE, expires: EXPIRES_MS });
    this.#messages = messages;
    if (this.#isStopped) return messages.stop();
    void this.#watch(messages);
    for await (const { seq, data } of messages) {
      if (this.#isStopped) return;
      if (seq <= this.#position) continue;
      if (seq > this.#position + 1) break; // read again from there, or find that it was cut
      this.#position = seq;
      this.#reader.message({ position: seq, bytes: Buffer.from(data) });
    }
    messages.stop();
  }

  /**
   * Replaces a consumer whose heartbeats stay away, or that has lost messages. What was on its way when the connection broke, or when the server
   * gave up a process that did not read, counts as delivered, and the client would miss it only when the next message comes.
   */
  async #watch(messages: ConsumerMessages): Promise<void> {
    let behindAt = -1;
    for await (const status of messages.status()) {
      const { type } = status;
      if (type === "heartbeats_missed" || type === "consumer_deleted" || type === "stream_not_found")
        messages.stop();
      if (type !== "heartbeat") continue;
      const isBehind = status.lastStreamSequence > this.#position;
      if (isBehind && behindAt === this.#position) messages.stop();
      behindAt = isBehind ? this.#position : -1;
    }
  }
}
