import { HeadwaterError } from "../errors.js";
import type { Random } from "../random.js";
import type { RunFailure } from "./failure.js";
import type { CodePlace } from "./globals.js";
import type { OutsideFakes } from "./options.js";

/** Attempts at one call that fail for it. */
const LOSSES_MAX = 3;
const READ_ONLY = ["GET", "HEAD", "OPTIONS"];

/** The network of a simulated program: it reaches the fakes of the test, some time, and may lose replies. */
export class SimulatedNetwork {
  readonly #fakes: OutsideFakes;
  readonly #random: Random;
  readonly #found: (found: RunFailure) => void;
  /** Calls whose requests have arrived, by their keys, and whether these named the key. */
  readonly #arrived = new Map<string, boolean>();
  readonly #losses: number;
  readonly #lost = new Map<string, number>();

  constructor(fakes: OutsideFakes, random: Random, found: (found: RunFailure) => void) {
    this.#fakes = fakes;
    this.#random = random;
    this.#found = found;
    this.#losses = random.pick([0, 0.2, 0.5]);
  }

  /** Does a call, or its reply, get lost? A few times at most: what is tried again goes through in the end. */
  isLost(key: string): boolean {
    const lost = this.#lost.get(key) ?? 0;
    if (lost === LOSSES_MAX || !this.#random.chance(this.#losses)) return false;
    this.#lost.set(key, lost + 1);
    return true;
  }

  async fetch(place: CodePlace, request: Request): Promise<Response> {
    const asked = `${request.method} ${request.url}`;
    if (place.kind === "event") throw this.inMethod(`fetch(${asked})`);
    const { call } = place;
    if (this.#fakes.fetch === undefined || call === undefined) throw this.#unknown(asked);
    if (this.isLost(call.key)) throw new TypeError("fetch failed: the simulated connection was refused");
    await this.#arrives(call, request, asked);
    const response = await this.#fakes.fetch(request);
    if (this.isLost(call.key))
      throw new TypeError("fetch failed: the simulated connection was lost before the reply");
    return response;
  }

  async #arrives(
    { name, key }: { name: string; key: string },
    request: Request,
    asked: string,
  ): Promise<void> {
    if (READ_ONLY.includes(request.method)) return;
    const text = [request.url, ...[...request.headers].flat(), await request.clone().text()].join("\n");
    const names = text.includes(key) || decodeURIComponent(request.url).includes(key);
    const position = `${key} ${asked}`;
    const before = this.#arrived.get(position);
    this.#arrived.set(position, names && before !== false);
    if (before === undefined || (before && names)) return;
    const error = new HeadwaterError(
      "HW-8003",
      `the outside function "${name}" was attempted twice for one call, and ${asked} arrived twice without the call's key: ` +
        'what it does has been done twice. Hand the key on, for instance as a header: `"Idempotency-Key": call.key`.',
    );
    this.#found({ kind: "key", error });
  }

  /** A method reaches for the network. */
  inMethod(what: string): HeadwaterError {
    const error = new HeadwaterError(
      "HW-8002",
      `${what} was called inside a method. An event may be tried several times, and rolled back: what it did outside stays. ` +
        "Declare it with `outside`, and let the event ask for it with `this.event.outside`.",
    );
    this.#found({ kind: "network", error });
    return error;
  }

  #unknown(what: string): HeadwaterError {
    const error = new HeadwaterError(
      "HW-8005",
      `${what} leads out of the simulation, which has no network. Give the test's \`world\` a \`fetch\` that answers, or ` +
        "a function in `outside` that replaces the outside function.",
    );
    this.#found({ kind: "network", error });
    return error;
  }

  connects({ kind }: CodePlace): HeadwaterError {
    return kind === "event" ? this.inMethod("a network connection") : this.#unknown("a network connection");
  }
}
