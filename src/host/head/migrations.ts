import type { Core } from "../../core/core.js";
import type { Plant } from "../../core/plants.js";
import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { pathOf } from "../../model/path.js";
import type { Slot } from "../context/index.js";
import type { EventRequest, NodeEvent, WaitingCaller } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import type { ToHead } from "../wire/index.js";
import type { Hosts } from "./hosts.js";
import { Migration, type MigrationTarget } from "./migration.js";
import { type CopyPorts, JournalCopy, SourceCopy } from "./migration-copies.js";

/** Copies that are under way at the same time; other migrations wait. */
const COPIES_MAX = 16;

/** What migrations need of their logical node. */
export interface MigrationPorts extends CopyPorts {
  readonly core: Core<EventRequest>;
  readonly hosts: Hosts;
  /** Where states are kept, if anywhere but on hosts. */
  readonly journal: Journal | null;
  readonly plant: Plant | undefined;
  /** A context is on another host. */
  came(slot: Slot): void;
  /** Is an event about to see one of its contexts? */
  isLookedAt(move: Migration): boolean;
  /** Gives a migration its ticket. */
  request(move: Migration, waiting: WaitingCaller): void;
  /** As an event, a migration has ended. */
  done(event: NodeEvent, error: HeadwaterError | null): void;
}

/**
 * Migrates contexts from host to host, with the contexts that come along (`migration.ts`). First they are copied, while
 * events go on (`migration-copies.ts`). Then the migration gets a ticket, as an event: when its turn has come no later event gets in, and
 * when no earlier event can be rolled back any more, what has changed since is sent, and the place changes.
 */
export class Migrations {
  readonly #ports: MigrationPorts;
  readonly #hosts: Hosts;
  /** Migrations without a ticket yet, because their contexts are being copied. */
  readonly #preparing = new Map<Migration, WaitingCaller>();
  readonly #copies = new Map<Migration, JournalCopy | SourceCopy>();
  /** Those whose contexts are to be copied when others have been. */
  readonly #backlog: Migration[] = [];
  /** The contexts that are being migrated. The next migration of one waits for the last, so that the last one asked for is made last. */
  readonly #underWay = new Set<Slot>();
  /** Migrations that wait for earlier events. */
  readonly #waiting = new Map<NodeEvent, { readonly move: Migration; readonly attempt: number }>();
  /** Those whose turn has come, while the rest is on its way. */
  readonly #ending = new Map<Migration, NodeEvent>();
  #lastCopy = 0;
  #open = 0;
  #areDue = false;

  constructor(ports: MigrationPorts) {
    this.#ports = ports;
    this.#hosts = ports.hosts;
  }

  /** How many have been asked for and are not done. */
  get open(): number {
    return this.#open;
  }

  start(slot: Slot, wanted: MigrationTarget, waiting: WaitingCaller): void {
    this.#open += 1;
    const move = new Migration(slot, wanted, this.#hosts);
    this.#preparing.set(move, waiting);
    this.#backlog.push(move);
    this.#startNext();
  }

  #startNext(): void {
    while (this.#copies.size < COPIES_MAX) {
      const index = this.#backlog.findIndex(({ slot }) => !this.#underWay.has(slot));
      const [next] = index < 0 ? [] : this.#backlog.splice(index, 1);
      if (next === undefined) return;
      this.#underWay.add(next.slot);
      this.#hosts.migrating?.(next, "copying");
      this.#copy(next);
    }
  }

  /** Copies the contexts, then asks for a ticket. */
  #copy(move: Migration): void {
    const { journal, request } = this.#ports;
    const ready = () => {
      const waiting = this.#preparing.get(move);
      if (waiting === undefined || !this.#preparing.delete(move)) return;
      this.#hosts.migrating?.(move, "waiting");
      request(move, waiting);
    };
    this.#lastCopy += 1;
    const [id, { to, slot }] = [this.#lastCopy, move];
    if (!this.#hosts.placement.hosts.includes(to)) return ready(); // it was removed: when its turn comes, the migration fails
    if (journal === null) {
      const copy = new SourceCopy(id, to, slot.node, () => move.sources(), this.#ports, ready);
      this.#copies.set(move, copy);
      return;
    }
    const slots = [...move.sources().values()].flat();
    if (slots.length === 0) return ready(); // what is nowhere in memory is loaded where it is needed
    this.#copies.set(move, new JournalCopy(id, to, slots, journal, this.#ports, ready));
  }

  /** Its turn has come. */
  begin(event: NodeEvent, move: Migration): void {
    this.#hosts.migrating?.(move, "locked");
    this.#waiting.set(event, { move, attempt: event.attempt });
    this.#areDue = true;
  }

  /** Are there some that were not looked at since their turn came? */
  get areDue(): boolean {
    return this.#areDue;
  }

  /** Ends migrations that need not wait any longer. Whatever the core calls appended must be so by now. */
  goOn(): void {
    this.#areDue = false;
    for (const [event, { move, attempt }] of this.#waiting) {
      const isCurrent = event.attempt === attempt; // else its turn comes again
      if (isCurrent && this.#mustWait(event, move)) continue;
      this.#waiting.delete(event);
      if (isCurrent) this.#end(event, move);
    }
  }

  /** Something has happened for which a migration may have waited. */
  lookAgain(): void {
    if (this.#waiting.size > 0) this.#areDue = true;
  }

  /**
   * Is there an earlier event in these contexts that may still be undone or started again, or one that is to see them?
   * What that event sees is there before anything of later events in these contexts, as long as they stay on their host.
   */
  #mustWait({ ticket, dependsOn }: NodeEvent, move: Migration): boolean {
    if (this.#ports.plant === "migrate-early") return false;
    if (dependsOn > 0) return true;
    if (this.#ports.isLookedAt(move)) {
      this.#ports.marks?.hit("a migration waited for a view of its context");
      return true;
    }
    for (const earlier of this.#ports.core.unsettled()) {
      if (earlier.ticket >= ticket) return false;
      if (!earlier.isOpen) continue;
      const { slot: start, execution } = earlier.payload;
      if (move.has(start)) return true;
      for (const entered of execution?.touched() ?? []) if (move.has(entered)) return true;
    }
    return false;
  }

  /** Nothing happens in the contexts any more: the rest can go. */
  #end(event: NodeEvent, move: Migration): void {
    const copy = this.#copies.get(move);
    if (!this.#hosts.placement.isOpen(move.to)) return this.#fail(event, move);
    if (copy instanceof SourceCopy) {
      if (copy.isVoid) return this.#fail(event, move);
      this.#ending.set(move, event);
      copy.finish(() => this.#moved(event, move, new Set([...move.sources().values()].flat())));
      return;
    }
    const isUsable = copy !== undefined && !copy.isVoid;
    this.#moved(event, move, isUsable ? copy.finish(this.#isLeftOut) : NONE);
  }

  get #isLeftOut(): boolean {
    return this.#ports.plant === "no-last-difference";
  }

  /** `copied` are the contexts whose states the host has. */
  #moved(event: NodeEvent, move: Migration, copied: ReadonlySet<Slot>): void {
    const { slot } = event.payload;
    const { to } = move;
    const { placement } = this.#hosts;
    this.#ending.delete(move);
    if (!placement.hosts.includes(to)) return this.#fail(event, move);
    const sources = move.sources();
    const life = this.#hosts.life(to);
    const settled: Slot[] = [];
    for (const each of move.contexts()) {
      const { residence } = each;
      if (residence.life === life && life !== 0) continue; // it is there
      residence.migrations += 1;
      residence.life = 0;
      if (!copied.has(each)) continue;
      residence.life = life;
      settled.push(each);
    }
    const { node } = slot;
    for (const [host, slots] of sources)
      this.#ports.send(host, { kind: "handOver", node, paths: slots.map(pathOf) });
    const copy = this.#copies.get(move);
    if (settled.length > 0 && copy !== undefined)
      this.#ports.send(to, { kind: "install", node, copy: copy.id, paths: settled.map(pathOf) });
    placement.move(slot, to, move.isRequested, move.staying);
    this.#hosts.migrating?.(move, "moved");
    for (const each of settled) this.#ports.came(each);
    this.#drop(node, move);
    this.#done(event, null);
  }

  #fail(event: NodeEvent, move: Migration): void {
    const { slot } = event.payload;
    this.#drop(slot.node, move);
    this.#hosts.migrating?.(move, "failed");
    const what = `${slot} was not moved to host ${move.to}, which has gone or takes nothing more; it is where it was.`;
    this.#done(event, new HeadwaterError("HW-6015", what));
  }

  #done(event: NodeEvent, error: HeadwaterError | null): void {
    this.#open -= 1;
    this.#underWay.delete(event.payload.slot);
    this.#ports.done(event, error);
    this.#startNext();
  }

  /** A copy is not needed any more. */
  #drop(node: string, move: Migration): void {
    const copy = this.#copies.get(move);
    if (copy === undefined) return;
    this.#copies.delete(move);
    this.#ending.delete(move);
    copy.drop();
    for (const host of copy.asked) this.#ports.send(host, { kind: "dropCopy", node, copy: copy.id });
    this.#ports.send(copy.to, { kind: "dropCopy", node, copy: copy.id });
    this.#startNext();
  }

  /** A host is gone, and with it what was copied to it: it will answer nothing more. */
  hostGone(host: HostId): void {
    for (const [move, copy] of this.#copies) {
      copy.sourceGone(host);
      if (copy.to !== host || copy.isVoid) continue;
      this.#ports.marks?.hit("a copy was thrown away");
      copy.drop();
      const ending = this.#ending.get(move);
      if (ending !== undefined) this.#fail(ending, move);
      else copy.giveUp();
    }
  }

  /** These writes are on their way to the journal. */
  appended(writes: readonly Write[]): void {
    for (const copy of this.#copies.values()) if (copy instanceof JournalCopy) copy.appended(writes);
  }

  get isCopying(): boolean {
    return this.#copies.size > 0;
  }

  heard(host: HostId, message: Extract<ToHead, { kind: "copiedPiece" | "pieceStaged" }>): void {
    for (const copy of this.#copies.values()) {
      if (copy.id !== message.copy) continue;
      if (message.kind === "pieceStaged") copy.staged();
      else if (copy instanceof SourceCopy) copy.copied(host, message.piece, message.isLast, this.#isLeftOut);
      return;
    }
  }

  /** Nothing goes on any more. */
  halt(reason: HeadwaterError): void {
    for (const waiting of this.#preparing.values()) waiting.reject(reason);
    this.#preparing.clear();
    this.#backlog.length = 0;
    for (const copy of this.#copies.values()) copy.drop();
    this.#copies.clear();
  }
}

const NONE: ReadonlySet<Slot> = new Set();
