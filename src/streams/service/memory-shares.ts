import { fairLevel } from "../graph/index.js";

/** What the streams and queries of one tenant hold. */
export interface HeldBytes {
  /** All of it: the state of queries, tables, views, and retained rows. */
  readonly bytes: number;
  /** Of these, rows that are retained for readers that come later. */
  readonly retained: number;
}

/** A tenant as the service divides its memory. */
export interface MemoryTenant {
  /** From now on it retains so many bytes at most; `null`: what its streams say. */
  retain(bytes: number | null): Promise<void>;
}

interface Share {
  held: HeldBytes;
  /** What it may hold; infinite until it was told. */
  limit: number;
  /** It is being told. */
  isBusy: boolean;
}

/** So much is retained in any case, and is not worth a command. */
const RETAINED_MIN = 64 * 1024;
/** A tenant that holds nearly what it may would take more. */
const IS_CAPPED = 0.9;
/** A limit is given anew if it has become smaller or larger by this. */
const LESS = 0.95;
const MORE = 1.25;
/** Beyond its limit by this, a tenant whose rows were given up already takes no more rows. */
const IS_OVER = 1.1;
/** How often shares are worked out at most. */
const APART_MS = 200;

/**
 * Divides what all tenants of a service may hold in memory. As long as they hold less together, no tenant is limited. Else each may hold
 * as much as the next, and what small tenants leave goes to the others (max-min fairness): first, tenants above their share retain fewer
 * rows; a tenant that is above it with the state of its queries alone takes no more rows until it is below, or others hold less.
 */
export class MemoryShares {
  readonly #shares = new Map<MemoryTenant, Share>();
  #sum = 0;
  #limited = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly bytesMax: number,
    readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** What all tenants hold together, as far as they have told. */
  get bytes(): number {
    return this.#sum;
  }

  /** A tenant tells what it holds now. */
  tell(tenant: MemoryTenant, held: HeldBytes): void {
    const share = this.#shares.get(tenant) ?? {
      held: NOTHING,
      limit: Number.POSITIVE_INFINITY,
      isBusy: false,
    };
    this.#shares.set(tenant, share);
    this.#sum += held.bytes - share.held.bytes;
    share.held = held;
    if (this.#sum > this.bytesMax || this.#limited > 0) this.#divide();
  }

  forget(tenant: MemoryTenant): void {
    const share = this.#shares.get(tenant);
    if (share === undefined) return;
    this.#shares.delete(tenant);
    this.#sum -= share.held.bytes;
    if (share.limit < Number.POSITIVE_INFINITY) this.#limited--;
  }

  /** What a tenant may hold, if it holds more than that although its rows were given up; else `null`. */
  isOver(tenant: MemoryTenant): number | null {
    const share = this.#shares.get(tenant);
    if (share === undefined || this.#sum <= this.bytesMax) return null;
    return share.held.bytes > IS_OVER * share.limit && share.held.retained <= RETAINED_MIN
      ? share.limit
      : null;
  }

  #divide(): void {
    if (this.nowMs() - this.#lookedMs < APART_MS) return;
    this.#lookedMs = this.nowMs();
    const level = this.#level();
    for (const [tenant, share] of this.#shares) if (!share.isBusy) this.#limit(tenant, share, level);
  }

  /** What a tenant may hold at most, so that all together hold what they may. A tenant that is limited would take more. */
  #level(): number {
    const wanted = [...this.#shares.values()].map(({ held, limit }) =>
      held.bytes >= IS_CAPPED * limit ? Number.POSITIVE_INFINITY : held.bytes,
    );
    return fairLevel(wanted, this.bytesMax);
  }

  #limit(tenant: MemoryTenant, share: Share, level: number): void {
    const { held, limit } = share;
    const isAbove = held.bytes > level && held.retained > RETAINED_MIN;
    const isLimited = limit < Number.POSITIVE_INFINITY;
    if (isLimited ? !(isAbove || level < LESS * limit || level > MORE * limit) : held.bytes <= level) return;
    share.limit = level;
    const isStillLimited = level < Number.POSITIVE_INFINITY;
    this.#limited += Number(isStillLimited) - Number(isLimited);
    share.isBusy = true;
    const state = held.bytes - held.retained;
    tenant
      .retain(isStillLimited ? Math.max(RETAINED_MIN, level - state) : null)
      .catch(() => {}) // the service is closing; else it is told again
      .finally(() => {
        share.isBusy = false;
      });
  }
}

const NOTHING: HeldBytes = { bytes: 0, retained: 0 };
