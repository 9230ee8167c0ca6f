import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { importPackage } from "../../packages.js";
import type { JournalIdentity } from "../journal.js";
import type { Following, KeptPart, LogMessage, LogPort, LogReader, PublishOutcome } from "./log-port.js";
import type { NatsAddress } from "./nats-address.js";
import { connectTo } from "./nats-connection.js";
import { NatsFollowing } from "./nats-following.js";
import { codeOf, existingLog, namesFor, openStreams, type StreamNames } from "./nats-stream.js";

const REQUEST_MS = 2000;
const WRONG_LAST_SEQUENCE = 10071;
const NO_MESSAGE = 10037;

/** A log that is a stream of NATS JetStream. */
export class NatsLog implements LogPort {
  private constructor(
    readonly id: string,
    readonly program: string,
    readonly address: NatsAddress,
    readonly connection: NatsConnection,
    readonly manager: JetStreamManager,
    readonly client: JetStreamClient,
    readonly names: StreamNames,
  ) {}

  static open(address: NatsAddress, identity: JournalIdentity, isForeignFine = false): Promise<NatsLog> {
    return NatsLog.#connected(address, (manager) => openStreams(manager, address, identity, isForeignFine));
  }

  /** The log of a cluster that was made before, to look at it. */
  static existing(address: NatsAddress): Promise<NatsLog> {
    return NatsLog.#connected(address, (manager) => existingLog(manager, address));
  }

  static async #connected(
    address: NatsAddress,
    find: (manager: JetStreamManager) => Promise<{ readonly id: string; readonly program: string }>,
  ): Promise<NatsLog> {
    const { jetstream, jetstreamManager } = await importPackage(() => import("@nats-io/jetstream"));
    const connection = await connectTo(address);
    try {
      const settings = { timeout: REQUEST_MS };
      const manager = await jetstreamManager(connection, { ...settings, checkAPI: false });
      const { id, program } = await find(manager);
      const client = jetstream(connection, settings);
      return new NatsLog(id, program, address, connection, manager, client, namesFor(address));
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  publish(position: number, bytes: Buffer, done: (outcome: PublishOutcome) => void): void {
    const options = { expect: { lastSequence: position - 1 }, timeout: REQUEST_MS };
    this.client.publish(this.names.logSubject, bytes, options).then(
      ({ seq }) => done(seq === position ? "landed" : "unknown"),
      (error: unknown) => done(codeOf(error) === WRONG_LAST_SEQUENCE ? "refused" : "unknown"),
    );
  }

  async last(): Promise<LogMessage> {
    const { log, logSubject } = this.names;
    const found = await this.#message(log, logSubject);
    if (found !== null) return found;
    const { state } = await this.manager.streams.info(log);
    return { position: state.last_seq, bytes: Buffer.alloc(0) };
  }

  follow(after: number, reader: LogReader): Following {
    return new NatsFollowing(this, after, reader);
  }

  async putPart(name: string, bytes: Buffer): Promise<void> {
    await this.client.publish(`${this.names.partSubject}.${name}`, bytes, { timeout: REQUEST_MS });
  }

  async getPart(name: string): Promise<KeptPart | null> {
    const found = await this.#message(this.names.parts, `${this.names.partSubject}.${name}`);
    return found === null ? null : { bytes: found.bytes, version: found.position };
  }

  async replacePart(name: string, bytes: Buffer, version: number): Promise<boolean> {
    const options = { expect: { lastSubjectSequence: version }, timeout: REQUEST_MS };
    try {
      await this.client.publish(`${this.names.partSubject}.${name}`, bytes, options);
      return true;
    } catch (error) {
      if (codeOf(error) === WRONG_LAST_SEQUENCE) return false;
      throw error;
    }
  }

  async dropParts(prefix: string): Promise<void> {
    await this.manager.streams.purge(this.names.parts, { filter: `${this.names.partSubject}.${prefix}.>` });
  }

  async cut(position: number): Promise<void> {
    await this.manager.streams.purge(this.names.log, { seq: position + 1 });
  }

  say(bytes: Buffer): void {
    if (!this.connection.isClosed()) this.connection.publish(this.names.beatSubject, bytes);
  }

  hear(listener: (bytes: Buffer) => void): Following {
    const subscription = this.connection.subscribe(this.names.beatSubject, {
      callback: (error, message) => {
        if (error === null) listener(Buffer.from(message.data));
      },
    });
    return { stop: () => subscription.unsubscribe() };
  }

  later(ms: number, callback: () => void): void {
    setTimeout(callback, ms).unref();
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** Asked of the stream's leader. */
  async #message(stream: string, subject: string): Promise<LogMessage | null> {
    try {
      const message = await this.manager.streams.getMessage(stream, { last_by_subj: subject });
      return message === null ? null : { position: message.seq, bytes: Buffer.from(message.data) };
    } catch (error) {
      if (codeOf(error) === NO_MESSAGE) return null;
      throw error;
    }
  }
}
