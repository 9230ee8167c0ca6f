import type { StreamRequests } from "./requests.js";

/** An output or a source as the service describes it: without its secrets. */
export interface DescribedDoor {
  readonly name: string;
  readonly stream: string;
  readonly [fact: string]: unknown;
}

/** A batch that the target of an output refused. */
export interface RefusedBatch {
  /** The numbers of its first row and of the row behind its last. */
  readonly first: number;
  readonly next: number;
  readonly error: string;
  readonly atMs: number;
  readonly lines: readonly string[];
}

/** The outputs or the sources of a tenant. */
export class RegisteredDoors {
  constructor(
    protected readonly requests: StreamRequests,
    readonly kind: "outputs" | "sources",
  ) {}

  /** Registers an output (`target`) or a source (`from`) of a stream. Returns its name. */
  async register(stream: string, options: Readonly<Record<string, unknown>>): Promise<string> {
    const body = JSON.stringify({ ...options, stream });
    const response = await this.requests.once({ method: "POST", path: `/v1/${this.kind}`, body });
    return ((await response.json()) as { readonly id: string }).id;
  }

  async list(): Promise<readonly DescribedDoor[]> {
    const path = `/v1/${this.kind}`;
    const found = await this.requests.json<Readonly<Record<string, readonly DescribedDoor[]>>>({
      ...{ method: "GET", path },
    });
    return found[this.kind] ?? [];
  }

  async status(name: string): Promise<DescribedDoor> {
    return await this.requests.json({ method: "GET", path: this.path(name) });
  }

  async deregister(name: string): Promise<void> {
    await this.requests.once({ method: "DELETE", path: this.path(name) });
  }

  protected path(name: string): string {
    return `/v1/${this.kind}/${encodeURIComponent(name)}`;
  }
}

export class RegisteredOutputs extends RegisteredDoors {
  constructor(requests: StreamRequests) {
    super(requests, "outputs");
  }

  /** The batches that the target refused. */
  async deadLetters(name: string): Promise<readonly RefusedBatch[]> {
    type Letters = { readonly deadLetters: readonly RefusedBatch[] };
    const path = `${this.path(name)}/dead-letters`;
    return (await this.requests.json<Letters>({ method: "GET", path })).deadLetters;
  }

  /** Sends a dead letter once more; it is gone when it is delivered. */
  async replay(name: string, first: number): Promise<void> {
    await this.requests.once({ method: "POST", path: `${this.path(name)}/dead-letters/${first}/replay` });
  }

  /** Throws a dead letter away. */
  async drop(name: string, first: number): Promise<void> {
    await this.requests.once({ method: "DELETE", path: `${this.path(name)}/dead-letters/${first}` });
  }
}
