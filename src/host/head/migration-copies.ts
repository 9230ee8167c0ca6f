import type { Marks } from "../../core/marks.js";
import type { Journal, Write } from "../../journal/journal.js";
import { type Path, pathOf } from "../../model/path.js";
import { contextNameIn, type Slot, storedWrites } from "../context/index.js";
import type { HostId } from "../ports/index.js";
import { largest, PieceWriter, type ToHost } from "../wire/index.js";
import { CopyPace, type PacePorts } from "./copy-pace.js";

/**
 * Contexts that are to migrate are copied first, piece by piece, while events go on in them. What changes meanwhile is
 * sent after, so that next to nothing is left to send when the turn of the migration has come.
 */

/** How often what has changed is sent after, as long as it gets less. */
const ROUNDS_MAX = 5;

export interface CopyPorts extends PacePorts {
  send(host: HostId, message: ToHost): void;
  readonly marks: Marks | undefined;
}

/** Goes on when the pace of the copy allows, if it is still wanted by then. */
function goOnLater(copy: Copy, pace: CopyPace, bytes: number, ports: CopyPorts, goOn: () => void): void {
  pace.arrived(bytes, () => {
    if (!copy.isVoid) return goOn();
    ports.marks?.hit("a copy was not wanted any more after a rest");
  });
}

/** One copy under way, as the head sees it. */
export interface Copy {
  readonly id: number;
  /** Where it goes. */
  readonly to: HostId;
  /** Is it of no use any more? */
  readonly isVoid: boolean;
  /** The hosts that keep something for the next round. */
  readonly asked: Iterable<HostId>;
  /** The host has what was sent last. */
  staged(): void;
  /** A host is gone. What it had is elsewhere, or in the journal. */
  sourceGone(host: HostId): void;
  /** Ends the copying: whatever there is must do. */
  giveUp(): void;
  /** It is no longer wanted. */
  drop(): void;
}

/** A copy of what the journal has. Whatever is appended to the journal meanwhile is sent after. */
export class JournalCopy implements Copy {
  isVoid = false;
  readonly asked: readonly HostId[] = [];
  readonly #ports: CopyPorts;
  readonly #node: string;
  readonly #slots: ReadonlyMap<string, Slot>;
  readonly #base: Iterator<[Slot, boolean, Write]>;
  /** What was written since it began, by key. */
  readonly #since = new Map<string, readonly [Slot, Write]>();
  readonly #ready: () => void;
  readonly #pace: CopyPace;
  #isOnTheWay = false;
  #pieceBytes = 0;
  #isBaseSent = false;
  #isReady = false;
  #piecesLeft = 0;
  /** How much of what has changed goes next. */
  #chaseBytes: number;

  constructor(
    readonly id: number,
    readonly to: HostId,
    slots: readonly Slot[],
    journal: Journal,
    ports: CopyPorts,
    ready: () => void,
  ) {
    this.#ports = ports;
    this.#pace = new CopyPace(ports);
    this.#chaseBytes = ports.pieceBytes;
    this.#node = slots[0]?.node ?? "";
    this.#slots = new Map(slots.map((slot) => [slot.stored.name, slot]));
    this.#base = stored(journal, slots);
    this.#ready = ready;
    this.#goOn();
  }

  /** Something was appended to the journal. */
  appended(writes: readonly Write[]): void {
    if (this.isVoid) return;
    for (const write of writes) {
      const slot = this.#slots.get(contextNameIn(write.key) ?? "");
      if (slot === undefined) continue;
      this.#since.delete(write.key);
      this.#since.set(write.key, [slot, write]);
    }
    this.#goOn();
  }

  staged(): void {
    goOnLater(this, this.#pace, this.#pieceBytes, this.#ports, () => {
      this.#isOnTheWay = false;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#isOnTheWay || this.isVoid) return;
    this.#pace.begins();
    const piece = this.#next();
    this.#pieceBytes = piece.length;
    if (piece.length > 0) {
      this.#isOnTheWay = true;
      this.#ports.send(this.to, { kind: "stagePiece", node: this.#node, copy: this.id, piece });
    }
    // Events may change more, again and again, than can be sent meanwhile: there is an end to running after them.
    if (this.#isBaseSent && (this.#since.size === 0 || this.#piecesLeft < 0)) this.giveUp();
  }

  #next(): Uint8Array {
    if (!this.#isBaseSent) {
      const piece = this.#someOfBase();
      this.#piecesLeft += ROUNDS_MAX;
      if (piece.length > 0) return piece; // an empty one is the end: all that was left of the base was written again since
    }
    this.#piecesLeft -= 1;
    return this.#nextChanges();
  }

  #someOfBase(): Uint8Array {
    const { bytes } = this.#pace;
    const piece = new PieceWriter(bytes);
    while (piece.weight < bytes) {
      const { value, done } = this.#base.next();
      if (done) {
        this.#isBaseSent = true;
        break;
      }
      const [slot, isFirst, write] = value;
      // What was written since is sent after: to go through it here would be to run after events that add more and more.
      if (isFirst || !this.#since.has(write.key)) piece.add(pathOf(slot), isFirst, write);
    }
    return piece.end();
  }

  /** Each larger than the one before: a copy that runs after ongoing events has to be faster than they are. */
  #nextChanges(): Uint8Array {
    const piece = this.#changes(this.#chaseBytes);
    this.#chaseBytes = Math.min(this.#chaseBytes * 2, largest(this.#ports.pieceBytes));
    return piece;
  }

  #changes(bytes: number): Uint8Array {
    const piece = new PieceWriter(bytes);
    for (const [key, [slot, write]] of this.#since) {
      if (piece.weight >= bytes) break;
      this.#since.delete(key);
      piece.add(pathOf(slot), false, write);
    }
    return piece.end();
  }

  /** The turn of the migration has come: sends what is left, and says which contexts are there. */
  finish(isLeftOut: boolean): ReadonlySet<Slot> {
    if (this.#since.size > 0) this.#ports.marks?.hit("a migration sent only a difference");
    while (this.#since.size > 0) {
      const piece = this.#changes(largest(this.#ports.pieceBytes));
      if (!isLeftOut)
        this.#ports.send(this.to, { kind: "stagePiece", node: this.#node, copy: this.id, piece });
    }
    return new Set(this.#slots.values());
  }

  /** The journal has what it had. */
  sourceGone(): void {}

  giveUp(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#ready();
  }

  drop(): void {
    this.isVoid = true;
    this.#base.return?.();
  }
}

function* stored(journal: Journal, slots: readonly Slot[]): Generator<[Slot, boolean, Write]> {
  for (const slot of slots) {
    let isFirst = true;
    for (const write of storedWrites(journal, slot)) {
      yield [slot, isFirst, write];
      isFirst = false;
    }
  }
}

/** The contexts that are to be copied, by the hosts where they are. */
export type Sources = ReadonlyMap<HostId, readonly Slot[]>;

/** A copy of what hosts have in memory, in rounds: first everything, then what has changed since the round before. */
export class SourceCopy implements Copy {
  isVoid = false;
  readonly #ports: CopyPorts;
  readonly #pace: CopyPace;
  readonly #node: string;
  readonly #sources: () => Sources;
  /** How often each context had been migrated when it was copied. */
  readonly #copied = new Map<Slot, number>();
  readonly #asked = new Set<HostId>();
  #over: () => void;
  #left: [host: HostId, slots: readonly Slot[]][] = [];
  /** Which host sends at the moment; null when the round is over. */
  #from: HostId | null = null;
  /** Has that host been asked for a piece that has not come? */
  #isAsked = false;
  #isLastPiece = false;
  #isFinal = false;
  #rounds = 0;
  #bytes = 0;
  #pieceBytes = 0;
  #bytesBefore = Number.POSITIVE_INFINITY;

  constructor(
    readonly id: number,
    readonly to: HostId,
    node: string,
    sources: () => Sources,
    ports: CopyPorts,
    ready: () => void,
  ) {
    this.#ports = ports;
    this.#pace = new CopyPace(ports);
    this.#node = node;
    this.#sources = sources;
    this.#over = ready;
    this.#round();
  }

  #round(): void {
    this.#rounds += 1;
    this.#bytes = 0;
    this.#left = [...this.#sources()];
    this.#nextSource();
  }

  #nextSource(): void {
    const next = this.#left.shift();
    if (next === undefined) return this.#roundIsOver();
    const [host, slots] = next;
    this.#from = host;
    this.#isAsked = true;
    this.#asked.add(host);
    const [paths, anew]: [Path[], Path[]] = [[], []];
    for (const slot of slots) {
      // What came to its host after it was copied has another history there.
      const isKnown = this.#copied.get(slot) === slot.residence.migrations;
      this.#copied.set(slot, slot.residence.migrations);
      (isKnown ? paths : anew).push(pathOf(slot));
    }
    if (this.#isFinal && paths.length > 0) this.#ports.marks?.hit("a migration sent only a difference");
    const bytes = this.#begins();
    this.#ports.send(host, { kind: "copyContexts", node: this.#node, copy: this.id, paths, anew, bytes });
  }

  /** A piece is asked for, of this size. No event runs in the contexts while the last difference is sent. */
  #begins(): number {
    this.#pace.begins();
    return this.#isFinal ? largest(this.#ports.pieceBytes) : this.#pace.bytes;
  }

  /** A host has sent some of it. */
  copied(host: HostId, piece: Uint8Array, isLast: boolean, isLeftOut: boolean): void {
    if (this.isVoid || host !== this.#from) return;
    this.#isAsked = false;
    this.#isLastPiece = isLast;
    this.#bytes += piece.length;
    this.#pieceBytes = piece.length;
    if (piece.length === 0 || (this.#isFinal && isLeftOut)) return this.staged();
    this.#ports.send(this.to, { kind: "stagePiece", node: this.#node, copy: this.id, piece });
    if (this.#isFinal && isLast && this.#left.length === 0) this.#roundIsOver();
  }

  staged(): void {
    if (this.isVoid || this.#from === null) return;
    if (this.#isLastPiece) this.#nextSource();
    else if (this.#isFinal) this.#nextPiece();
    else goOnLater(this, this.#pace, this.#pieceBytes, this.#ports, () => this.#nextPiece());
  }

  #nextPiece(): void {
    if (this.isVoid || this.#from === null) return;
    if (this.#isLastPiece) return this.#nextSource(); // its host has gone since
    this.#isAsked = true;
    const bytes = this.#begins();
    this.#ports.send(this.#from, { kind: "nextPiece", node: this.#node, copy: this.id, bytes });
  }

  sourceGone(host: HostId): void {
    this.#asked.delete(host);
    if (this.isVoid || this.#from !== host) return;
    this.#isLastPiece = true; // a piece that is on its way to its goal, or rests, is the last of this host
    if (this.#isAsked) this.#nextSource();
  }

  #roundIsOver(): void {
    const isWorthwhile =
      this.#bytes > this.#ports.pieceBytes &&
      this.#bytes < this.#bytesBefore / 2 &&
      this.#rounds < ROUNDS_MAX;
    if (!this.#isFinal && isWorthwhile) {
      this.#bytesBefore = this.#bytes;
      return this.#round();
    }
    this.#from = null;
    this.#over();
  }

  /** The turn of the migration has come: nothing changes any more. */
  finish(done: () => void): void {
    this.#isFinal = true;
    this.#over = done;
    this.#round();
  }

  giveUp(): void {
    if (this.#from === null) return;
    this.#from = null;
    this.#over();
  }

  drop(): void {
    this.isVoid = true;
  }

  get asked(): Iterable<HostId> {
    return this.#asked;
  }
}
