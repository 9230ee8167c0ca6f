import { type JetStreamClient, jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { percentile } from "../lib/percentile.js";

const SUBJECT = "bench.publish";

/** What JetStream does by itself: messages published to a stream on three servers, with nothing on top. */
export class Publishing {
  readonly #client: JetStreamClient;

  private constructor(connection: NatsConnection) {
    this.#client = jetstream(connection);
  }

  static async open(connection: NatsConnection): Promise<Publishing> {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({
      name: "BENCH",
      subjects: [SUBJECT],
      storage: StorageType.File,
      num_replicas: 3,
    });
    return new Publishing(connection);
  }

  /** Publishes for a while. Returns messages per second, and the median time of one. */
  async run(
    bytes: number,
    inFlight: number,
    ms: number,
  ): Promise<{ readonly perSecond: number; readonly p50Ms: number }> {
    const message = Buffer.alloc(bytes, 7);
    const took: number[] = [];
    const began = performance.now();
    const loop = async () => {
      while (performance.now() - began < ms) {
        const asked = performance.now();
        await this.#client.publish(SUBJECT, message);
        took.push(performance.now() - asked);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
    return { perSecond: (took.length / (performance.now() - began)) * 1000, p50Ms: percentile(took, 0.5) };
  }
}
