import { importPackage } from "../../packages.js";
import type { SourceDefinition, SourcePolicy } from "./definition.js";

/** What a source has read: some lines of NDJSON, and where it is with them. */
export interface SourceMessage {
  readonly bytes: Buffer;
  /** For people: where the lines came from. */
  readonly place: string;
}

/** What takes messages. */
export interface Intake {
  /** The position that was kept with the last rows; `null` before the first. */
  position(): Promise<number | null>;
  /** Keeps the rows, what is wrong with the others, and the position, in one event. */
  take(messages: readonly SourceMessage[], position: number | null): Promise<void>;
  failed(error: unknown): void;
}

/** A source that works until it is stopped. */
export interface RunningSource {
  /** The port that it listens on, if it does. */
  readonly port: number | null;
  stop(): Promise<void>;
}

export async function openSource(
  definition: SourceDefinition,
  policy: SourcePolicy,
  intake: Intake,
): Promise<RunningSource> {
  if (definition.from.startsWith("tcp:")) {
    const { TcpSource } = await import("./tcp-source.js");
    return await TcpSource.listen(definition, intake);
  }
  const { NatsSource } = await importPackage(() => import("./nats-source.js"));
  return new NatsSource(definition, policy, intake);
}
