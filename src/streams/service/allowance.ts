import type { MemoryShares, MemoryTenant } from "./memory-shares.js";
import { noMemoryLeft, type Quotas, tooFast, tooLarge } from "./quotas.js";
import { Rate } from "./rate.js";

/** What a tenant may push: its quotas, and its share of the memory of the service. */
export class Allowance {
  readonly #tenant: MemoryTenant;
  readonly #shares: MemoryShares;
  readonly #rate: Rate;
  #quotas: Quotas;
  #memoryBytes = 0;

  constructor(tenant: MemoryTenant, shares: MemoryShares, quotas: Quotas) {
    this.#tenant = tenant;
    this.#shares = shares;
    this.#quotas = quotas;
    this.#rate = new Rate(quotas.eventsPerSecond, Date.now());
  }

  get quotas(): Quotas {
    return this.#quotas;
  }

  use(quotas: Quotas): void {
    this.#quotas = quotas;
    this.#rate.perSecond = quotas.eventsPerSecond;
  }

  /** What the tenant holds now. Only the process that works for it has a say in how memory is divided. */
  measured(bytes: number, retained: number, isWorking: boolean): void {
    this.#memoryBytes = bytes;
    if (isWorking) this.#shares.tell(this.#tenant, { bytes, retained });
  }

  forget(): void {
    this.#shares.forget(this.#tenant);
  }

  /** Refuses rows that are more than the tenant may push. */
  admit(rows: number): void {
    if (!this.#rate.tryTake(rows, Date.now())) throw tooFast(this.#quotas);
    if (this.#memoryBytes > this.#quotas.stateBytes) throw tooLarge(this.#memoryBytes, this.#quotas);
    const shareBytes = this.#shares.isOver(this.#tenant);
    if (shareBytes !== null) throw noMemoryLeft(this.#memoryBytes, shareBytes, this.#shares.bytesMax);
  }
}
