/** Where a page leaves its session for the page after it: `sessionStorage`, or anything with these functions. */
export interface ResumeStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** What the next page needs to go on with a session. */
export interface LeftSession {
  readonly secret: string;
  /** The highest number of a request: numbers up to it are used up. */
  readonly last: number;
}

/** Browsers tell a page when it goes, also when it is reloaded. */
interface Leaving {
  addEventListener?(type: "pagehide", listener: () => void): void;
  removeEventListener?(type: "pagehide", listener: () => void): void;
}

/**
 * Hands a session from one page to the next. While a page has it, it is not in the storage: browsers copy the storage into a
 * duplicated tab, and two tabs with one session would take it from each other.
 */
export class Resuming {
  readonly #key: string;
  #listener: (() => void) | null = null;

  constructor(
    readonly storage: ResumeStorage,
    url: string,
  ) {
    this.#key = `headwater ${url}`;
  }

  /** What the page before has left, once. */
  take(): LeftSession | null {
    try {
      const text = this.storage.getItem(this.#key);
      this.storage.removeItem(this.#key);
      const { secret, last } = JSON.parse(text ?? "null") ?? {};
      const isOurs =
        typeof secret === "string" && /^[0-9a-f]{32,64}$/.test(secret) && Number.isSafeInteger(last);
      return isOurs ? { secret, last } : null;
    } catch {
      return null; // storage that is switched off, or holds something else, begins a new session
    }
  }

  onLeaving(current: () => LeftSession): void {
    this.#listener = () => {
      try {
        this.storage.setItem(this.#key, JSON.stringify(current()));
      } catch {
        // the next page begins a new session
      }
    };
    (globalThis as Leaving).addEventListener?.("pagehide", this.#listener);
  }

  stop(): void {
    if (this.#listener !== null) (globalThis as Leaving).removeEventListener?.("pagehide", this.#listener);
  }
}
