import type {
  Following,
  KeptPart,
  LogMessage,
  LogPort,
  LogReader,
  PublishOutcome,
} from "../../journal/stream/log-port.js";
import type { Random } from "../../random.js";

/** How likely what goes wrong with a simulated log. */
export interface LogLuck {
  /** A message gets lost on its way to the log. */
  readonly lost: number;
  /** The acknowledgement of a message gets lost. */
  readonly unacknowledged: number;
  /** A message lands only after its sender has given up. */
  readonly late: number;
  /** The log has no leader for a while. */
  readonly leaderless: number;
  /** A read of the end shows an earlier one. */
  readonly stale: number;
  /** A part of a snapshot is damaged after it was read back, never of two snapshots that are in use. */
  readonly damaged: number;
  /** A beat gets lost. */
  readonly unheard: number;
}

export const FINE: LogLuck = {
  lost: 0,
  unacknowledged: 0,
  late: 0,
  leaderless: 0,
  stale: 0,
  damaged: 0,
  unheard: 0,
};

/** Lets something happen some time; what was asked for first need not happen first. */
export type DelayPort = (what: string, happen: () => void) => void;

/** The messages of a simulated log, which outlive processes. Planted bugs take parts of it away. */
export class SimStream {
  readonly messages: Buffer[] = [];
  readonly parts = new Map<string, KeptPart>();
  #versions = 0;
  readonly listeners = new Set<(bytes: Buffer) => void>();
  readonly #followers = new Set<() => void>();
  readonly #fences: boolean;
  /** The prefix of the snapshot with a damaged part. */
  #damaged: string | null = null;
  /** Positions up to this one are cut off. */
  first = 1;

  constructor(fences = true) {
    this.#fences = fences;
  }

  land(position: number, bytes: Buffer): PublishOutcome {
    if (this.#fences && position !== this.messages.length + 1) return "refused";
    this.messages.push(Buffer.from(bytes));
    for (const wake of this.#followers) wake();
    return "landed";
  }

  keep(name: string, bytes: Buffer): void {
    this.#versions += 1;
    this.parts.set(name, { bytes: Buffer.from(bytes), version: this.#versions });
  }

  /** One part of the snapshot that the manifest names last is damaged, if that of the one before is not. */
  damage(manifest: Buffer, random: Random): void {
    const { last, before } = JSON.parse(manifest.toString()) as Record<string, { position: number } | null>;
    const [prefix, sound] = [`at.${last?.position}.`, `at.${before?.position}.`];
    if (before === null || this.#damaged === sound) return;
    const names = [...this.parts.keys()].filter((name) => name.startsWith(prefix));
    if (names.length === 0) return;
    const name = random.pick(names);
    const bytes = Buffer.from(this.parts.get(name)?.bytes ?? []);
    const at = random.int(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    this.keep(name, bytes);
    this.#damaged = prefix;
  }

  at(position: number): LogMessage {
    return { position, bytes: this.messages[position - 1] ?? Buffer.alloc(0) };
  }

  watch(wake: () => void): () => void {
    this.#followers.add(wake);
    return () => this.#followers.delete(wake);
  }
}

/** One process's view of a simulated log, with failures that a seed decides. */
export class SimLog implements LogPort {
  readonly id = "5".repeat(32);
  readonly #stream: SimStream;
  readonly #luck: LogLuck;
  readonly #random: Random;
  readonly #later: DelayPort;
  /** How many more requests find no leader. */
  #leaderlessFor = 0;
  #isClosed = false;
  readonly #after: (callback: () => void, ms: number) => void;
  /** Planted: a cut removes what the last snapshot has, not the one before. */
  cutsEarly = false;

  /** `after` lets time pass, if there is any. */
  constructor(
    stream: SimStream,
    luck: LogLuck,
    random: Random,
    later: DelayPort,
    after: (callback: () => void, ms: number) => void = (callback) => later("pause", callback),
  ) {
    this.#stream = stream;
    this.#luck = luck;
    this.#random = random;
    this.#later = later;
    this.#after = after;
  }

  publish(position: number, bytes: Buffer, done: (outcome: PublishOutcome) => void): void {
    const { lost, unacknowledged, late } = this.#luck;
    this.#later("publish", () => {
      if (this.#hasNoLeader() || this.#random.chance(lost))
        return this.#later("timeout", () => done("unknown"));
      if (this.#random.chance(late)) {
        this.#later("timeout", () => {
          done("unknown");
          this.#later("late", () => this.#stream.land(position, bytes));
        });
        return;
      }
      const outcome = this.#stream.land(position, bytes);
      const told = this.#random.chance(unacknowledged) ? "unknown" : outcome;
      this.#later("acknowledged", () => done(told));
    });
  }

  last(): Promise<LogMessage> {
    return new Promise((resolve, reject) => {
      this.#later("last", () => {
        if (this.#hasNoLeader()) return reject(new Error("no leader"));
        const { messages } = this.#stream;
        const back = this.#random.chance(this.#luck.stale) ? this.#random.int(4) : 0;
        const found = this.#stream.at(Math.max(0, messages.length - back));
        this.#later("last", () => resolve(found));
      });
    });
  }

  follow(after: number, reader: LogReader): Following {
    let [position, isStopped, isDue] = [after, false, false];
    const step = () => {
      isDue = false;
      if (isStopped || this.#isClosed) return;
      if (this.#stream.first > position + 1) {
        isStopped = true;
        return reader.cut(this.#stream.first);
      }
      if (position < this.#stream.messages.length) {
        position += 1;
        reader.message(this.#stream.at(position));
        wake();
      }
    };
    const wake = () => {
      if (isDue || isStopped) return;
      isDue = true;
      this.#later("follow", step);
    };
    const unwatch = this.#stream.watch(wake);
    wake();
    return {
      stop: () => {
        isStopped = true;
        unwatch();
      },
    };
  }

  putPart(name: string, bytes: Buffer): Promise<void> {
    return new Promise((resolve) =>
      this.#later("part", () => {
        this.#stream.keep(name, bytes);
        resolve();
      }),
    );
  }

  replacePart(name: string, bytes: Buffer, version: number): Promise<boolean> {
    return new Promise((resolve) =>
      this.#later("part", () => {
        const isSame = (this.#stream.parts.get(name)?.version ?? 0) === version;
        if (isSame) this.#stream.keep(name, bytes);
        if (isSame && this.#random.chance(this.#luck.damaged)) this.#stream.damage(bytes, this.#random);
        resolve(isSame);
      }),
    );
  }

  dropParts(prefix: string): Promise<void> {
    return new Promise((resolve) =>
      this.#later("part", () => {
        const { parts } = this.#stream;
        for (const name of [...parts.keys()]) if (name.startsWith(`${prefix}.`)) parts.delete(name);
        resolve();
      }),
    );
  }

  getPart(name: string): Promise<KeptPart | null> {
    return new Promise((resolve) => this.#later("part", () => resolve(this.#stream.parts.get(name) ?? null)));
  }

  cut(position: number): Promise<void> {
    return new Promise((resolve) =>
      this.#later("cut", () => {
        const last = this.cutsEarly ? lastSnapshotIn(this.#stream) : position;
        this.#stream.first = Math.max(this.#stream.first, last + 1);
        resolve();
      }),
    );
  }

  say(bytes: Buffer): void {
    for (const listener of this.#stream.listeners) {
      if (this.#random.chance(this.#luck.unheard)) continue;
      this.#later("beat", () => listener(bytes));
    }
  }

  hear(listener: (bytes: Buffer) => void): Following {
    this.#stream.listeners.add(listener);
    return { stop: () => this.#stream.listeners.delete(listener) };
  }

  later(ms: number, callback: () => void): void {
    this.#after(callback, ms);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  #hasNoLeader(): boolean {
    if (this.#leaderlessFor > 0) {
      this.#leaderlessFor -= 1;
      return true;
    }
    if (!this.#random.chance(this.#luck.leaderless)) return false;
    this.#leaderlessFor = this.#random.int(10);
    return true;
  }
}

function lastSnapshotIn({ parts }: SimStream): number {
  const manifest = JSON.parse(parts.get("snapshot")?.bytes.toString() ?? "{}") as {
    last?: { position: number };
  };
  return manifest.last?.position ?? 0;
}
