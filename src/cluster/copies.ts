import { HeadwaterError } from "../errors.js";
import type { EngineCopies, FollowedEngine } from "../host/cluster-side.js";
import type { KeptEngines, KeyTable } from "../journal/journal.js";
import type { Beat } from "../journal/stream/beats.js";
import type { LogTap } from "../journal/stream/followed-table.js";
import type { CopiedField, CopiedFields } from "./copied-fields.js";
import { EngineCopy } from "./engine-copy.js";
import { PATIENCE_MS, type Ring, RingMembers } from "./ring.js";

export const REPLICAS = 3;
/** Copies are made while a standby is this many messages behind the head at most; before that, they would only apply what is in checkpoints soon. */
const LAG_MAX = 64;
/** A copy that could not be made is tried again after so long, and twice as long each time. */
const AGAIN_MS = { least: 500, most: 60_000 };
const LOOK_MS = 100;
/** Copies are made for so long at a time, or one. */
const SLICE_MS = 20;
/** A tenant has a graph, and a service may have thousands of tenants. */
const SHOWN_MAX = 100;

export interface CopiesParts {
  /** Of this process. */
  readonly member: string;
  readonly fields: CopiedFields;
  /** How many processes run each engine, the head among them. */
  readonly replicas: number;
  readonly now: () => number;
  readonly every: (ms: number, callback: () => void) => () => void;
  readonly onWarning: (error: HeadwaterError) => void;
}

/** What a member says of a copy that it keeps. */
export interface CopyAbout {
  readonly context: string;
  readonly field: string;
  /** How many records it has applied. */
  readonly position: number;
  readonly digest: number;
}

/** What a member says of all copies. */
export interface CopiesAbout {
  readonly replicas: number;
  readonly count: number;
  /** The first of them, by their contexts. */
  readonly copies: readonly CopyAbout[];
  /** How many copies were found to be others than their originals, since the process has joined. */
  readonly diverged: number;
  /** How many were made. */
  readonly made: number;
}

interface Failed {
  readonly atMs: number;
  readonly waitMs: number;
}

/**
 * The copies of engines that a standby keeps up to date while it follows the log, as the ring gives them to it. When it becomes the head,
 * they are the engines of its program; until then it can be asked for what they have.
 */
export class HotCopies implements LogTap, EngineCopies {
  readonly #parts: CopiesParts;
  readonly #members: RingMembers;
  readonly #known = new Map<string, CopiedField>();
  readonly #copies = new Map<string, EngineCopy>();
  /** Those of the last message, until all of it is there. */
  readonly #touched = new Set<CopiedField>();
  /** By context and field. */
  readonly #byName = new Map<string, CopiedField>();
  readonly #failed = new Map<string, Failed>();
  /** When the ring has given a copy of this process to others. */
  readonly #leftMs = new Map<string, number>();
  /** Which places the ring gives to this process, as far as they were looked up. */
  readonly #ours = new Map<string, boolean>();
  #ring: Ring | null = null;
  #table: KeyTable | null = null;
  #position = 0;
  #headPosition = 0;
  #diverged = 0;
  #made = 0;
  readonly #stop: () => void;
  readonly #listeners = new Set<(context: string) => void>();

  constructor(parts: CopiesParts) {
    this.#parts = parts;
    this.#members = new RingMembers(parts.now);
    this.#stop = parts.fields.areThere ? parts.every(LOOK_MS, () => this.look()) : () => {};
  }

  /** This process follows the log with this table from now on; null: it does not follow it. What it had is not used any more. */
  follow(table: KeyTable | null): void {
    this.#table = table;
    const given = [...this.#copies.keys()].flatMap((prefix) => this.#known.get(prefix) ?? []);
    for (const each of [this.#known, this.#byName, this.#copies, this.#touched, this.#failed, this.#leftMs])
      each.clear();
    for (const field of given) this.#tell(field);
    if (table === null || !this.#parts.fields.areThere) return;
    for (const field of this.#parts.fields.in(table)) this.#know(field);
  }

  heard(beat: Beat): void {
    this.#members.heard(beat);
    if (beat.state === "head") this.#headPosition = beat.position;
  }

  write(key: string, value: Uint8Array | null): void {
    const found = this.#table === null ? null : this.#parts.fields.at(key);
    if (found === null) return;
    const [field, entry] = found;
    this.#know(field);
    const copy = this.#copies.get(field.prefix);
    if (copy === undefined) return;
    copy.take(entry, value);
    this.#touched.add(field);
  }

  applied(position: number): void {
    this.#position = position;
    for (const field of this.#touched) {
      const copy = this.#copies.get(field.prefix);
      copy?.ended();
      if (copy !== undefined && copy.state.kind !== "fine") this.#lose(field, copy);
      else this.#tell(field);
    }
    this.#touched.clear();
  }

  /** The copies become the engines of the program that begins with the table. */
  handOver(): KeptEngines {
    const copies = new Map(this.#copies);
    this.follow(null);
    return {
      take: (prefix, position) => {
        const copy = copies.get(prefix);
        copies.delete(prefix);
        return copy?.position === position ? copy.engine : null;
      },
    };
  }

  close(): void {
    this.#stop();
    this.follow(null);
  }

  /** Makes copies that the ring gives to this process, and drops copies that others were given some time ago. */
  look(): void {
    const table = this.#table;
    if (table === null) return;
    const beganMs = this.#parts.now();
    const { ring } = this.#members;
    if (ring !== this.#ring) this.#ours.clear();
    this.#ring = ring;
    let mayMake = this.#headPosition - this.#position <= LAG_MAX;
    for (const field of this.#known.values()) {
      const { prefix } = field;
      if (!this.#isOurs(field, ring)) {
        this.#leave(field, beganMs);
        continue;
      }
      this.#leftMs.delete(prefix);
      if (mayMake && !this.#copies.has(prefix) && this.#mayTry(prefix)) {
        this.#make(field, table);
        mayMake = this.#parts.now() - beganMs < SLICE_MS;
      }
    }
  }

  #isOurs({ place }: CopiedField, ring: Ring): boolean {
    let isOurs = this.#ours.get(place);
    if (isOurs === undefined) {
      isOurs = ring.owners(place, this.#parts.replicas - 1).includes(this.#parts.member);
      this.#ours.set(place, isOurs);
    }
    return isOurs;
  }

  /** The ring gives a copy to others. They need some time to make theirs. */
  #leave(field: CopiedField, nowMs: number): void {
    const { prefix } = field;
    if (!this.#copies.has(prefix)) return;
    const leftMs = this.#leftMs.get(prefix) ?? nowMs;
    this.#leftMs.set(prefix, leftMs);
    if (nowMs - leftMs < PATIENCE_MS) return;
    this.#copies.delete(prefix);
    this.#leftMs.delete(prefix);
    this.#tell(field);
  }

  of(context: string, field: string): FollowedEngine | null {
    const found = this.#byName.get(nameOf(context, field));
    return (found === undefined ? null : this.#copies.get(found.prefix)) ?? null;
  }

  onGrown(listener: (context: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  about(): CopiesAbout {
    const first = [...this.#copies].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, SHOWN_MAX);
    const copies = first.map(([prefix, { position, engine }]) => {
      const { context = "", field = "" } = this.#known.get(prefix) ?? {};
      return { context, field, position, digest: engine.digest ?? 0 };
    });
    const count = this.#copies.size;
    return { replicas: this.#parts.replicas, count, copies, diverged: this.#diverged, made: this.#made };
  }

  #know(field: CopiedField): void {
    if (this.#known.has(field.prefix)) return;
    this.#known.set(field.prefix, field);
    this.#byName.set(nameOf(field.context, field.field), field);
  }

  #make(field: CopiedField, table: KeyTable): void {
    let copy: EngineCopy | null;
    try {
      copy = EngineCopy.of(field, table);
    } catch (error) {
      return this.#differs(field, 0, error instanceof Error ? error.message : String(error));
    }
    if (copy === null) {
      this.#known.delete(field.prefix);
      this.#byName.delete(nameOf(field.context, field.field));
      return;
    }
    this.#made += 1;
    if (copy.state.kind === "diverged") return this.#differs(field, copy.position, copy.state.why);
    this.#failed.delete(field.prefix);
    this.#copies.set(field.prefix, copy);
    this.#tell(field);
  }

  #lose(field: CopiedField, { state, position }: EngineCopy): void {
    this.#copies.delete(field.prefix);
    if (state.kind === "diverged") this.#differs(field, position, state.why);
    this.#tell(field);
  }

  #differs({ prefix, context, field }: CopiedField, position: number, why: string): void {
    this.#diverged += 1;
    const waitMs = Math.min(AGAIN_MS.most, 2 * (this.#failed.get(prefix)?.waitMs ?? AGAIN_MS.least / 2));
    this.#failed.set(prefix, { atMs: this.#parts.now(), waitMs });
    this.#parts.onWarning(
      new HeadwaterError(
        "HW-3160",
        `the copy of ${context}.${field} in ${this.#parts.member}, at record ${position}, is not what the head has: ${why}. It is not used, ` +
          "and made again from the log.",
      ),
    );
  }

  #mayTry(prefix: string): boolean {
    const failed = this.#failed.get(prefix);
    return failed === undefined || this.#parts.now() - failed.atMs >= failed.waitMs;
  }

  #tell({ context }: CopiedField): void {
    for (const listener of this.#listeners) listener(context);
  }
}

function nameOf(context: string, field: string): string {
  return `${context}\0${field}`;
}
