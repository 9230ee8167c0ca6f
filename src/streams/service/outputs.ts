import { HeadwaterError } from "../../errors.js";
import type { Ref } from "../../model/refs.js";
import { decodeBatch } from "../columns/index.js";
import {
  checkedOutput,
  type DeliveryPort,
  type DeliveryState,
  type OutputDefinition,
  OutputDelivery,
  type OutputOptions,
  type OutputPolicy,
  openTarget,
  shownTarget,
} from "../delivery/index.js";
import { encodeCommand } from "../graph/index.js";
import type { SourcePolicy } from "../sources/index.js";
import type { Tenant } from "./contexts.js";
import type { DeadLetter } from "./output-context.js";

const PAGE_BYTES = 1024 * 1024;

/** An output as its tenant sees it: without its secrets. */
export interface OutputStatus {
  readonly name: string;
  readonly stream: string;
  readonly target: string;
  /** The names of its secrets. */
  readonly secrets: readonly string[];
  /** The number of the next row to deliver, and how many rows of the stream wait from there on. */
  readonly position: number;
  readonly lag: number;
  /** Failures since the last batch that was delivered. */
  readonly attempts: number;
  readonly lastError: { readonly message: string; readonly atMs: number } | null;
  /** Rows that were no longer retained when their turn came. */
  readonly skipped: number;
  readonly deadLetters: number;
  readonly deadLetterBytes: number;
}

/** What a tenant's outputs are told of the service. */
export interface OutputSurroundings {
  readonly policy: OutputPolicy & SourcePolicy;
  readonly warn: (message: string) => void;
  readonly note: () => Promise<void>;
}

export const PUBLIC_TARGETS: OutputPolicy & SourcePolicy = {
  isListeningAllowed: false,
  isPrivateAllowed: false,
  directory: null,
  stdout: null,
};

/** The outputs of one tenant, which deliver while the tenant is open. */
export class TenantOutputs {
  readonly #tenant: Ref<Tenant>;
  readonly #deliveries = new Map<string, OutputDelivery>();
  /** In a cluster, one process delivers. */
  #isWorking = false;

  constructor(
    tenant: Ref<Tenant>,
    readonly name: string,
    readonly policy: OutputPolicy,
    readonly growth: (stream: string, signal: AbortSignal) => ReturnType<DeliveryPort["growth"]>,
    readonly warn: (message: string) => void,
    /** Notes that the tenant has outputs, so that they go on after a restart without being asked for. */
    readonly note: () => Promise<void>,
  ) {
    this.#tenant = tenant;
  }

  /** From now on, this process delivers all outputs that are registered. */
  async start(): Promise<void> {
    this.#isWorking = true;
    await this.sync();
  }

  /** Outputs may have been registered and deregistered by other processes. */
  async sync(): Promise<void> {
    if (!this.#isWorking) return;
    const all = new Map(
      (await this.#tenant.outputs.all()).map(([definition]) => [definition.name, definition]),
    );
    for (const definition of all.values()) this.#start(definition);
    for (const [name, delivery] of this.#deliveries)
      if (!all.has(name) && this.#deliveries.delete(name)) await delivery.stop();
  }

  /** Rows of a stream, a table or a query to a target outside, from now on or from a number on. Returns the output's name. */
  async register(
    stream: string,
    target: string,
    options: OutputOptions & { readonly name?: string } = {},
  ): Promise<string> {
    const name = options.name ?? `${stream}-${Math.random().toString(36).slice(2, 10)}`;
    const definition = checkedOutput(name, stream, target, options, this.policy);
    const { first, next } = await this.#tenant.graph.rows(stream, Number.MAX_SAFE_INTEGER, 1);
    const { from } = options;
    if (from !== undefined && !(Number.isSafeInteger(from) && from >= 1))
      throw new HeadwaterError("HW-5501", "rows are numbered from 1 on.");
    const position = from === undefined ? next : Math.max(from, first);
    if (position > next)
      throw new HeadwaterError(
        "HW-5501",
        `the next row of "${stream}" gets number ${next}, and ${position} is behind it.`,
      );
    await this.note();
    await this.#tenant.addOutput(
      definition,
      { position, until: null, mark: null, skipped: 0 },
      cursor(definition, position),
    );
    this.#start(definition);
    return name;
  }

  /** What is under way when an output is deregistered may still arrive. */
  async deregister(name: string): Promise<void> {
    const { definition } = await this.#tenant.outputs.one(name);
    await this.#tenant.removeOutput(name, cursor(definition, null));
    const delivery = this.#deliveries.get(name);
    this.#deliveries.delete(name);
    await delivery?.stop();
  }

  async list(): Promise<readonly OutputStatus[]> {
    const all = await this.#tenant.outputs.all();
    return await Promise.all(all.map(([{ name }]) => this.status(name)));
  }

  async status(name: string): Promise<OutputStatus> {
    const { definition, state, deadLetters, deadLetterBytes } = await this.#tenant.outputs.one(name);
    const { next } = await this.#tenant.graph.rows(definition.stream, Number.MAX_SAFE_INTEGER, 1);
    const delivery = this.#deliveries.get(name);
    const { stream, target, secrets } = definition;
    return {
      ...{ name, stream, target: shownTarget(target), secrets: Object.keys(secrets) },
      ...{ position: state.position, lag: next - state.position, skipped: state.skipped },
      ...{
        attempts: delivery?.attempts ?? 0,
        lastError: delivery?.lastError ?? null,
        deadLetters,
        deadLetterBytes,
      },
    };
  }

  async deadLetters(name: string): Promise<readonly DeadLetter[]> {
    return await this.#tenant.outputs.lettersOf(name);
  }

  /** Sends a dead letter once more, under the key that it had. It is gone when it is delivered. */
  async replay(name: string, first: number): Promise<void> {
    const letter = (await this.deadLetters(name)).find((each) => each.first === first);
    if (letter === undefined) throw noLetter(name, first);
    const { definition } = await this.#tenant.outputs.one(name);
    const target = await openTarget(definition, this.policy, this.name);
    try {
      const { columns } = await this.#tenant.graph.rows(definition.stream, Number.MAX_SAFE_INTEGER, 1);
      const signal = AbortSignal.timeout(definition.timeoutMs);
      await target.send({ ...letter, stream: definition.stream, schema: columns }, signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new HeadwaterError(
        "HW-5504",
        `the dead letter ${first} of the output "${name}" was not delivered: ${why}.`,
      );
    } finally {
      await target.close();
    }
    await this.#tenant.outputs.unbury(name, first);
  }

  async drop(name: string, first: number): Promise<void> {
    await this.#tenant.outputs.one(name);
    if (!(await this.#tenant.outputs.unbury(name, first))) throw noLetter(name, first);
  }

  async close(): Promise<void> {
    this.#isWorking = false;
    await Promise.all([...this.#deliveries.values()].map((delivery) => delivery.stop()));
    this.#deliveries.clear();
  }

  #start(definition: OutputDefinition): void {
    if (!this.#isWorking || this.#deliveries.has(definition.name)) return;
    const delivery = new OutputDelivery(definition, this.#port(definition));
    this.#deliveries.set(definition.name, delivery);
    delivery.start();
  }

  #port(definition: OutputDefinition): DeliveryPort {
    const { name, stream } = definition;
    const tenant = this.#tenant;
    return {
      state: async () => (await tenant.outputs.one(name)).state,
      async read(from) {
        const { columns, segments, first, next } = await tenant.graph.rows(stream, from, PAGE_BYTES);
        const decoded = segments.map((segment) => ({
          first: segment.first,
          batch: decodeBatch(Buffer.from(segment.bytes), columns, Number.POSITIVE_INFINITY),
        }));
        return { schema: columns, segments: decoded, first, next };
      },
      growth: (signal) => this.growth(stream, signal),
      advance: async (state: DeliveryState) => {
        await tenant.moveOutput(name, state, cursor(definition, state.position));
      },
      bury: async ({ first, next, lines }, error, state) => {
        const letter = { first, next, lines, error, atMs: Date.now() };
        await tenant.buryOutput(name, letter, state, cursor(definition, state.position));
      },
      open: () => openTarget(definition, this.policy, this.name),
      warn: this.warn,
    };
  }
}

function cursor({ name, stream }: OutputDefinition, position: number | null): Uint8Array {
  return encodeCommand({ kind: "cursor", name, stream, position });
}

function noLetter(name: string, first: number): HeadwaterError {
  return new HeadwaterError("HW-5503", `the output "${name}" has no dead letter ${first}.`);
}
