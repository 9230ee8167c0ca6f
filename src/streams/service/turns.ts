import { fairLevel } from "../graph/index.js";

/** A round costs about so much besides its rows: an event, a group of the journal, a look of each subscriber. */
const ROUND_MS = 0.2;
/** The share of the thread that this may take for all tenants together. If they push more often, their rounds gather pushes. */
const ROUNDS_SHARE = 0.5;
const LINGER_MS_MAX = 150;
/** So much is worth a round of its own. */
const LARGE_BYTES = 4096;
/** How often a tenant whose rounds gather nothing goes without lingering before it is tried again. */
const TRIALS_APART = { least: 32, most: 1024 };
const WINDOW_MS = 100;
/** Rounds run for so long before requests, timers and sockets get the thread: for as long as those had it, within these. */
const SLICE_MS = { least: 1, most: 20 };
/** A round of a tenant with much to do is about so long: while others have something to do, and else. */
const SHORT_ROUND_MS = 1;
const LONG_ROUND_MS = 4;

export interface TurnClock {
  nowMs(): number;
  /** Calls back when everything that waits for the thread at this moment had it. */
  afterOthers(task: () => void): void;
  after(ms: number, task: () => void): { stop(): void };
}

const SYSTEM: TurnClock = {
  nowMs: () => performance.now(),
  afterOthers: (task) => void setImmediate(task),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return { stop: () => clearTimeout(timer) };
  },
};

interface Asked {
  readonly turn: TenantTurn;
  readonly begin: () => void;
}

/**
 * Shares the thread that carries out rounds among the tenants of a service. Who has had the least of it goes first, and who had nothing to
 * do has saved up nothing (start-time fair queueing): a tenant with much to do gets what the others leave, and they wait for one
 * round of it at most. When many tenants push a row now and then, the rounds of each begin further apart, and so gather pushes.
 */
export class RoundTurns {
  readonly #waiting: Asked[] = [];
  #servedMs = 0;
  #spentMs = 0;
  #isServing = false;
  #windowBeganMs = 0;
  /** Of this window, and what the one before it has told. */
  readonly #pushes = new Map<TenantTurn, number>();
  #before = { tenants: 0, level: Number.POSITIVE_INFINITY };

  constructor(readonly clock: TurnClock = SYSTEM) {}

  tenant(): TenantTurn {
    return new TenantTurn(this);
  }

  /** How long a round should take. */
  get roundMs(): number {
    this.#look();
    return Math.max(this.#before.tenants, this.#pushes.size) > 1 ? SHORT_ROUND_MS : LONG_ROUND_MS;
  }

  /**
   * How far apart small rounds of a tenant should begin now that pushes so often in a window. What rounds may take is shared so that
   * no tenant gives up any for one that wants more (max-min fairness): a tenant within its share waits for nothing, whatever others push.
   */
  lingerMs(pushes: number): number {
    this.#look();
    const { level } = this.#before;
    return pushes <= level ? 0 : Math.min(LINGER_MS_MAX, WINDOW_MS / level);
  }

  /** @internal */
  pushed(turn: TenantTurn): void {
    this.#look();
    this.#pushes.set(turn, (this.#pushes.get(turn) ?? 0) + 1);
  }

  #look(): void {
    const passedMs = this.clock.nowMs() - this.#windowBeganMs;
    if (passedMs < WINDOW_MS) return;
    const share = WINDOW_MS / passedMs; // a window that was looked at late is longer
    const wanted: number[] = [];
    for (const [turn, pushes] of this.#pushes) {
      turn.pushesBefore = pushes * share;
      wanted.push(pushes * share);
    }
    this.#before = {
      tenants: wanted.length,
      level: fairLevel(wanted, (WINDOW_MS * ROUNDS_SHARE) / ROUND_MS),
    };
    this.#windowBeganMs += passedMs;
    this.#pushes.clear();
  }

  /** @internal Resolves when the tenant may begin a round; null if at once. */
  ask(turn: TenantTurn): Promise<void> | null {
    turn.servedMs = Math.max(turn.servedMs, this.#servedMs);
    if (this.#waiting.length === 0 && this.#spentMs < SLICE_MS.least) {
      this.#grant(turn);
      return null;
    }
    return new Promise((begin) => {
      this.#waiting.push({ turn, begin });
      this.#serveSoon();
    });
  }

  #grant(turn: TenantTurn): void {
    this.#servedMs = Math.max(this.#servedMs, turn.servedMs);
    this.#spentMs += turn.expectedMs;
    this.#serveSoon();
  }

  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    const leftMs = this.clock.nowMs();
    this.clock.afterOthers(() => {
      const othersMs = this.clock.nowMs() - leftMs - this.#spentMs;
      const sliceMs = Math.min(SLICE_MS.most, Math.max(SLICE_MS.least, othersMs));
      this.#isServing = false;
      this.#spentMs = 0;
      while (this.#waiting.length > 0 && this.#spentMs < sliceMs) this.#next();
    });
  }

  #next(): void {
    let least = 0;
    for (let i = 1; i < this.#waiting.length; i++)
      if ((this.#waiting[i] as Asked).turn.servedMs < (this.#waiting[least] as Asked).turn.servedMs)
        least = i;
    const next = this.#waiting[least];
    const last = this.#waiting.pop();
    if (next === undefined || last === undefined) return;
    if (last !== next) this.#waiting[least] = last;
    this.#grant(next.turn);
    next.begin();
  }
}

/** The turns of one tenant. */
export class TenantTurn {
  /** What it has had of the thread, counted on from what the others have had whenever it comes back. */
  servedMs = 0;
  /** How long its rounds take. */
  expectedMs = ROUND_MS;
  /** How often it pushed in the last window in which it pushed. */
  pushesBefore = 0;
  #beganMs = Number.NEGATIVE_INFINITY;
  #begin: (() => void) | null = null;
  #untried = 0;
  #trialsApart = TRIALS_APART.least;
  #hasLingered = false;

  constructor(readonly turns: RoundTurns) {}

  /** Something waits for a round: so many bytes by now. */
  pushed(bytes: number): void {
    this.turns.pushed(this);
    if (bytes >= LARGE_BYTES) this.#begin?.();
  }

  /** Resolves when a round may begin for so many bytes; null if at once. */
  next(bytes: number): Promise<void> | null {
    const lingerMs = bytes >= LARGE_BYTES ? 0 : this.#lingerMs();
    this.#hasLingered = lingerMs > 0;
    if (lingerMs <= 0) return this.turns.ask(this);
    return new Promise<void>((begin) => {
      const { stop } = this.turns.clock.after(lingerMs, () => this.#begin?.());
      this.#begin = () => {
        stop();
        this.#begin = null;
        begin();
      };
    }).then(() => this.turns.ask(this) ?? undefined);
  }

  #lingerMs(): number {
    const lingerMs = this.turns.lingerMs(this.pushesBefore);
    if (lingerMs === 0) return 0;
    if (this.#untried > 0) {
      this.#untried--;
      return 0;
    }
    return Math.max(0, this.#beganMs + lingerMs - this.turns.clock.nowMs());
  }

  /** A round begins with so many pushes. Who pushes only after an answer gathers nothing, and need not wait. */
  begins(pushes: number): void {
    this.#beganMs = this.turns.clock.nowMs();
    if (!this.#hasLingered) return;
    this.#untried = pushes > 1 ? 0 : this.#trialsApart;
    this.#trialsApart = pushes > 1 ? TRIALS_APART.least : Math.min(2 * this.#trialsApart, TRIALS_APART.most);
  }

  /** It had the thread for so long besides its rounds. */
  spent(ms: number): void {
    this.servedMs += ms;
  }

  /** A round took so long. One that took far longer than those before it was probably interrupted: its tenant is not punished for that. */
  took(ms: number): void {
    const charged = Math.min(ROUND_MS + ms, 2 * this.expectedMs);
    this.servedMs += charged;
    this.expectedMs = Math.max(ROUND_MS, 0.5 * (this.expectedMs + charged));
  }
}
