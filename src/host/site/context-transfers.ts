import type { Plant } from "../../core/plants.js";
import { invariant } from "../../errors.js";
import type { Write } from "../../journal/journal.js";
import { type Path, pathOf } from "../../model/path.js";
import { initialState, isUnmade, type State } from "../../state/fields.js";
import {
  copiedWrites,
  loadState,
  type Slot,
  Staged,
  stateWrites,
  UNREAD_BYTES_MIN,
} from "../context/index.js";
import { at, PieceWriter, type ToHead, type ToHost, writesIn } from "../wire/index.js";
import { PartialLoad } from "./partial-load.js";
import type { ResidentContexts } from "./resident-contexts.js";

export type TransferMessage = Extract<
  ToHost,
  {
    readonly kind:
      | "copyContexts"
      | "nextPiece"
      | "stagePiece"
      | "install"
      | "dropCopy"
      | "load"
      | "handOver"
      | "evict";
  }
>;

/** A copy that leaves this host. */
interface Outgoing {
  /** The states that the other host has of these contexts. */
  readonly sent: Map<Slot, State>;
  /** What is still to be sent in this round. */
  rest: Iterator<readonly [path: Path, isFirst: boolean, write: Write]>;
}

/** Contexts come to a host and leave it. */
export class ContextTransfers {
  readonly #roots: ReadonlyMap<string, Slot>;
  readonly #send: (message: ToHead) => void;
  /** States that the journal has. */
  readonly #kept: WeakSet<State>;
  readonly #pieceBytes: number;
  readonly #held: ResidentContexts | null;
  readonly #plant: Plant | undefined;
  readonly #outgoing = new Map<string, Outgoing>();
  readonly #staged = new Map<string, Map<Slot, Staged>>();
  /** What has come of contexts whose last part has not. */
  readonly #coming = new Map<Slot, PartialLoad>();

  constructor(
    roots: ReadonlyMap<string, Slot>,
    send: (message: ToHead) => void,
    kept: WeakSet<State>,
    pieceBytes: number,
    held: ResidentContexts | null,
    plant?: Plant,
  ) {
    this.#roots = roots;
    this.#send = send;
    this.#kept = kept;
    this.#pieceBytes = pieceBytes;
    this.#held = held;
    this.#plant = plant;
  }

  receive(message: TransferMessage): void {
    switch (message.kind) {
      case "copyContexts":
        return this.#copyContexts(message);
      case "nextPiece":
        return this.#nextPiece(message.node, message.copy, message.bytes);
      case "stagePiece":
        return this.#stagePiece(message);
      case "install":
        return this.#install(message);
      case "dropCopy":
        this.#outgoing.delete(nameOf(message));
        this.#staged.delete(nameOf(message));
        return;
      case "load":
        return this.#load(message);
      case "handOver":
        for (const path of message.paths) this.#evict(at(message.node, path, this.#roots));
        return;
      case "evict":
        return this.#evict(message.slot);
    }
  }

  #evict(slot: Slot): void {
    const isFree = slot.evict();
    invariant(isFree, "a context leaves a host only when no event is in it");
    this.#held?.evict(slot);
  }

  /** Begins a round: whole states of those contexts that were not sent before, what changed of the others. */
  #copyContexts(message: Extract<ToHost, { kind: "copyContexts" }>): void {
    const { node, copy, paths, anew, bytes } = message;
    const name = nameOf(message);
    const { sent = new Map<Slot, State>() } = this.#outgoing.get(name) ?? {};
    const round: [Slot, State | null, State][] = [];
    for (const [list, isAnew] of [
      [anew, true],
      [paths, false],
    ] as const) {
      for (const path of list) {
        const slot = at(node, path, this.#roots);
        if (!slot.exists && !isAnew && !sent.has(slot)) continue;
        const state = slot.exists ? slot.state : initialState(slot);
        const before = isAnew ? undefined : sent.get(slot);
        sent.set(slot, state);
        // Of what does not exist nothing is sent, and the other host makes it; unless another host may have sent what did exist.
        const isThere = before !== undefined && !isUnmade(before);
        if (isAnew || isThere || !isUnmade(state) || this.#plant === "copy-unmade")
          round.push([slot, isThere ? before : null, state]);
      }
    }
    this.#outgoing.set(name, { sent, rest: writesOf(round, this.#plant === "copy-unmade") });
    this.#nextPiece(node, copy, bytes);
  }

  #nextPiece(node: string, copy: number, bytes: number): void {
    const outgoing = this.#outgoing.get(nameOf({ node, copy }));
    if (outgoing === undefined) return;
    const piece = new PieceWriter(bytes);
    let isLast = false;
    while (piece.weight < bytes && !isLast) {
      const { value, done } = outgoing.rest.next();
      if (done) isLast = true;
      else piece.add(value[0], value[1], value[2]);
    }
    this.#send({ kind: "copiedPiece", node, copy, piece: piece.end(), isLast });
  }

  /** Keeps what was copied until it is needed. */
  #stagePiece(message: Extract<ToHost, { kind: "stagePiece" }>): void {
    const { node, copy, piece } = message;
    const name = nameOf(message);
    const staged = this.#staged.get(name) ?? new Map<Slot, Staged>();
    this.#staged.set(name, staged);
    let last: Path | null = null;
    let known: Staged | undefined;
    // A copy of its own, of which large values stay parts until an event reads them.
    for (const write of writesIn(piece.slice())) {
      const { path, isFirst } = write;
      if (path !== last || isFirst) {
        const slot = at(node, path, this.#roots);
        known = isFirst ? undefined : staged.get(slot);
        known ??= new Staged(slot, Math.min(UNREAD_BYTES_MIN, this.#pieceBytes));
        staged.set(slot, known);
        last = path;
      }
      known?.put(write);
    }
    this.#send({ kind: "pieceStaged", node, copy });
  }

  /** Contexts that were copied are here from now on. */
  #install(message: Extract<ToHost, { kind: "install" }>): void {
    const staged = this.#staged.get(nameOf(message));
    this.#staged.delete(nameOf(message));
    for (const path of message.paths) {
      const slot = at(message.node, path, this.#roots);
      const known = staged?.get(slot);
      if (known === undefined && this.#held === null) slot.evict();
      else slot.comesWith(() => this.#keep(known?.state() ?? null));
    }
  }

  /** A context is here from now on, and this is what the journal has of it, or the next part of that. */
  #load({ node, path, writes, isCut, isLast }: Extract<ToHost, { kind: "load" }>): void {
    const slot = at(node, path, this.#roots);
    const coming = this.#coming.get(slot) ?? new PartialLoad();
    this.#coming.set(slot, coming);
    coming.add(writes, isCut);
    if (!isLast) return;
    this.#coming.delete(slot);
    slot.comesWith(() => this.#keep(loadState(coming.journal, slot)));
  }

  #keep(state: State | null): State | null {
    if (state !== null) this.#kept.add(state);
    return state;
  }
}

function nameOf({ node, copy }: { readonly node: string; readonly copy: number }): string {
  return `${copy} ${node}`;
}

function* writesOf(
  round: readonly (readonly [Slot, State | null, State])[],
  copiesUnmade: boolean,
): Generator<readonly [Path, boolean, Write]> {
  for (const [slot, before, state] of round) {
    const path = pathOf(slot);
    let isFirst = before === null;
    let writes: Iterable<Write>;
    if (before === null) {
      const isGone = isUnmade(state) && !copiesUnmade;
      writes = isGone ? [{ key: slot.stored.key, value: null }] : copiedWrites(slot, state);
    } else {
      const changed: Write[] = [];
      if (before !== state) stateWrites(slot, before, state, changed);
      writes = changed;
    }
    for (const write of writes) {
      yield [path, isFirst, write];
      isFirst = false;
    }
  }
}
