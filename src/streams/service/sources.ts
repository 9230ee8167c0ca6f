import { HeadwaterError } from "../../errors.js";
import type { Ref } from "../../model/refs.js";
import { Batch, column, encodeBatch, type Schema } from "../columns/index.js";
import { shownTarget } from "../delivery/index.js";
import { NdjsonReader } from "../door/index.js";
import { encodeCommand, type Push } from "../graph/index.js";
import {
  checkedSource,
  type Intake,
  openSource,
  type RunningSource,
  type SourceDefinition,
  type SourceMessage,
  type SourceOptions,
  type SourcePolicy,
} from "../sources/index.js";
import type { Tenant } from "./contexts.js";
import type { CarriedOut } from "./exports.js";

const RECORD_SHOWN_MAX = 1000;

/** The columns of the stream that says which records of a source did not fit. */
const ERROR_COLUMNS: Schema = [
  column("place", "text", false),
  column("message", "text", false),
  column("record", "text", false),
];

/** A source as its tenant sees it: without its secrets. */
export interface SourceStatus {
  readonly name: string;
  readonly stream: string;
  readonly from: string;
  readonly secrets: readonly string[];
  readonly position: number | null;
  readonly rows: number;
  /** Records that did not fit; they are rows of the stream NAME_errors. */
  readonly errors: number;
  readonly lastError: { readonly message: string; readonly atMs: number } | null;
  /** Where a source listens that takes connections. */
  readonly port: number | null;
}

/** What sources need of the tenant's streams. */
export interface SourceSurroundings {
  readonly policy: SourcePolicy;
  readonly note: () => Promise<void>;
  /** Defines a stream by SQL. */
  readonly define: (sql: string) => Promise<unknown>;
  readonly deregister: (stream: string) => Promise<void>;
  readonly schemaOf: (stream: string) => Schema;
  /** Throws if the tenant may not push so many rows now. */
  readonly admit: (rows: number) => void;
  /** Wakes who waits for rows. */
  readonly heard: (outcome: CarriedOut) => void;
}

interface Working {
  readonly running: RunningSource;
  lastError: SourceStatus["lastError"];
}

/** The sources of one tenant, which work while the tenant is open. */
export class TenantSources {
  readonly #tenant: Ref<Tenant>;
  readonly #working = new Map<string, Working>();
  /** In a cluster, one process reads. */
  #isWorking = false;

  constructor(
    tenant: Ref<Tenant>,
    readonly around: SourceSurroundings,
  ) {
    this.#tenant = tenant;
  }

  async start(): Promise<void> {
    this.#isWorking = true;
    await this.sync();
  }

  /** Sources may have been registered and deregistered by other processes. */
  async sync(): Promise<void> {
    if (!this.#isWorking) return;
    const all = new Map((await this.#tenant.sources.all()).map((each) => [each.name, each]));
    for (const definition of all.values()) await this.#start(definition).catch(() => {}); // a port can be taken; the status has no port then
    for (const [name, { running }] of this.#working)
      if (!all.has(name) && this.#working.delete(name)) await running.stop();
  }

  /** Rows from outside into a stream, from now on. Records that do not fit go into the stream NAME_errors. Returns the name. */
  async register(stream: string, from: string, { name, secrets = {} }: SourceOptions = {}): Promise<string> {
    const own = name ?? `${stream.toLowerCase().replace(/\W/g, "_")}_source`;
    const definition = checkedSource(own, stream, from, secrets, this.around.policy);
    this.around.schemaOf(stream);
    await this.around.note();
    await this.around.define(
      `CREATE STREAM ${own}_errors (place text NOT NULL, message text NOT NULL, record text NOT NULL)`,
    );
    try {
      await this.#tenant.sources.add(definition);
      await this.#start(definition);
    } catch (error) {
      await this.#tenant.sources.remove(own).catch(() => {});
      await this.around.deregister(`${own}_errors`);
      throw error instanceof HeadwaterError
        ? error
        : new HeadwaterError("HW-5501", `the source "${own}" cannot be opened: ${textOf(error)}.`);
    }
    return own;
  }

  /** The stream NAME_errors stays until it is deregistered itself. */
  async deregister(name: string): Promise<void> {
    await this.#tenant.sources.one(name);
    const working = this.#working.get(name);
    this.#working.delete(name);
    await working?.running.stop();
    await this.#tenant.sources.remove(name);
  }

  async list(): Promise<readonly SourceStatus[]> {
    const all = await this.#tenant.sources.all();
    return await Promise.all(all.map(({ name }) => this.status(name)));
  }

  async status(name: string): Promise<SourceStatus> {
    const { definition, state } = await this.#tenant.sources.one(name);
    const working = this.#working.get(name);
    const { stream, from, secrets } = definition;
    return {
      ...{ name, stream, from: shownTarget(from), secrets: Object.keys(secrets), ...state },
      ...{ lastError: working?.lastError ?? null, port: working?.running.port ?? null },
    };
  }

  async close(): Promise<void> {
    this.#isWorking = false;
    await Promise.all([...this.#working.values()].map(({ running }) => running.stop()));
    this.#working.clear();
  }

  async #start(definition: SourceDefinition): Promise<void> {
    if (!this.#isWorking || this.#working.has(definition.name)) return;
    let working: Working | null = null;
    let early: Working["lastError"] = null;
    let last: number | null = null;
    const intake: Intake = {
      position: async () => {
        last = (await this.#tenant.sources.one(definition.name)).state.position;
        return last;
      },
      take: async (messages, position) => {
        await this.#take(definition, messages, position, last);
        last = position;
      },
      failed(error) {
        early = { message: textOf(error), atMs: Date.now() };
        if (working !== null) working.lastError = early;
      },
    };
    working = { running: await openSource(definition, this.around.policy, intake), lastError: early };
    if (this.#isWorking && !this.#working.has(definition.name)) this.#working.set(definition.name, working);
    else await working.running.stop();
  }

  /** Rows, errors and the position of the source are one event. */
  async #take(
    { name, stream }: SourceDefinition,
    messages: readonly SourceMessage[],
    position: number | null,
    last: number | null,
  ): Promise<void> {
    const schema = this.around.schemaOf(stream);
    const { batches, errors } = readAll(messages, schema);
    const rows = batches.reduce((sum, batch) => sum + batch.rows, 0);
    this.around.admit(rows);
    const pushOf = (into: string, batch: Batch): Push => ({
      ...{ stream: into, producer: "", sequence: null, key: null },
      batch: encodeBatch(batch),
    });
    const pushes = batches.filter((batch) => batch.rows > 0).map((batch) => pushOf(stream, batch));
    if (errors.length > 0) pushes.push(pushOf(`${name}_errors`, Batch.of(ERROR_COLUMNS, errors)));
    const record = encodeCommand({ kind: "push", pushes });
    this.around.heard(await this.#tenant.takeFrom(name, record, { last, position }, rows, errors.length));
  }
}

type ErrorRow = readonly [place: string, message: string, record: string];

/** All messages at once if they fit, which is the rule; one by one, and line by line, if not. */
function readAll(
  messages: readonly SourceMessage[],
  schema: Schema,
): { readonly batches: readonly Batch[]; readonly errors: readonly ErrorRow[] } {
  const whole = readOne(Buffer.concat(messages.flatMap(({ bytes }) => [bytes, Buffer.from("\n")])), schema);
  if (whole instanceof Batch) return { batches: [whole], errors: [] };
  const batches: Batch[] = [];
  const errors: ErrorRow[] = [];
  for (const { bytes, place } of messages) {
    const read = readOne(bytes, schema);
    if (read instanceof Batch) batches.push(read);
    else
      for (const line of bytes.toString("utf8").split("\n")) {
        const one = readOne(Buffer.from(line), schema);
        if (one instanceof Batch) batches.push(one);
        else errors.push([place, one.message, line.slice(0, RECORD_SHOWN_MAX)]);
      }
  }
  return { batches, errors };
}

function readOne(bytes: Buffer, schema: Schema): Batch | HeadwaterError {
  try {
    return new NdjsonReader(schema).read(bytes, true).batch;
  } catch (error) {
    if (error instanceof HeadwaterError) return error;
    throw error;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
