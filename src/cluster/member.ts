import type { HeadwaterError } from "../errors.js";
import type { AnyService } from "../host/service.js";
import type { KeyTable } from "../journal/journal.js";
import type { Beat } from "../journal/stream/beats.js";
import { beginEpoch, type Epoch, lastOf, patiently } from "../journal/stream/epoch.js";
import type { FollowedLog } from "../journal/stream/followed-table.js";
import { streamJournal } from "../journal/stream/stream-journal.js";
import { DOOR } from "../model/door.js";
import { LinkArrivals } from "./arrivals.js";
import { memberPart } from "./dial.js";
import { Head } from "./head.js";
import { HeadConnection } from "./head-connection.js";
import { type Hello, LINK_VERSION } from "./links.js";
import type { MemberParts } from "./member-parts.js";
import { OfferedHosts } from "./offered-hosts.js";
import { openFollowed } from "./open-followed.js";
import { answersOf, noSuccessor, notTheHead } from "./operations.js";
import { MemberPresence } from "./presence.js";
import { Snapshots } from "./snapshots.js";
import { Suspicion } from "./suspicion.js";

const LOOK_MS = 50;
/** A log that cannot be read so often, and not a message further, is damaged. */
const LOSSES_MAX = 3;
/** So long events that are under way may take before another becomes the head; later ones start again there. */
const HANDOVER_MS = 1000;

/**
 * One process of a cluster. It follows the log as a standby, takes the head's place when that is gone, and becomes a standby again when
 * another epoch has begun. The log is the lock: the process whose epoch record lands is the head, whatever the others believe.
 */
export class Member {
  readonly presence: MemberPresence;
  readonly #parts: MemberParts;
  readonly #suspicion: Suspicion;
  #followed: FollowedLog;
  #role: "standby" | "changing" | "head" | "stopped" = "standby";
  #head: Head | null = null;
  /** Connections for the epoch that this process begins. */
  readonly #arrivals: LinkArrivals;
  #known: { readonly epoch: number; readonly member: string } = { epoch: 0, member: "" };
  #connection: HeadConnection | null = null;
  #offered: OfferedHosts | null = null;
  #own: Epoch | null = null;
  /** The last message of the head that hands over to this process, as it says; 0 if none does. */
  #endsAt = 0;
  #losses = 0;
  #isDrained = false;
  /** Hears that this process has become the head, or is the head no longer. */
  onRole: (isHead: boolean) => void = () => {};
  readonly #snapshots: Snapshots;
  #stopLooking: () => void = () => {};
  #listener: { close(): void } | null = null;
  #changing: Promise<void> = Promise.resolve();

  private constructor(parts: MemberParts, followed: FollowedLog) {
    const { world } = parts;
    this.#parts = parts;
    this.#followed = followed;
    this.#suspicion = new Suspicion(() => world.now());
    this.#snapshots = new Snapshots(parts);
    this.presence = new MemberPresence({
      port: parts.port,
      world,
      say: () => this.#beat(),
      heard: (beat) => this.#heard(beat),
    });
    this.#arrivals = new LinkArrivals(parts.port.id, answersOf(this, parts), () => this.#own?.epoch ?? 0);
  }

  static async join(parts: MemberParts): Promise<Member> {
    let member: Member | null = null;
    const followed = await openFollowed(parts, () => member);
    member = new Member(parts, followed);
    await member.#begin();
    return member;
  }

  /** What the log adds up to, as far as it was followed. */
  get table(): KeyTable {
    return this.#followed.table;
  }

  get isHead(): boolean {
    return this.#role === "head";
  }

  get isDrained(): boolean {
    return this.#isDrained;
  }

  /** The program, while this process is the head. */
  get service(): AnyService | null {
    return this.#head?.service ?? null;
  }

  get epoch(): number {
    return this.#known.epoch;
  }

  /** The member that writes the log, as far as this one knows. */
  get headMember(): string {
    return this.#known.member;
  }

  async #begin(): Promise<void> {
    const { port, world, host, name } = this.#parts;
    const listener = await world.listen(host, (link, hello) => this.#arrivals.take(link, hello));
    this.#listener = listener;
    const reached = Buffer.from(JSON.stringify(listener.address));
    await patiently(port, () => port.putPart(memberPart(name), reached));
    this.#stopLooking = world.every(LOOK_MS, () => this.#look());
    this.presence.begin();
    const end = await lastOf(port);
    if (end.position === 0) this.#suspicion.ended(); // the cluster is new
  }

  /** Resolves when this process has read what was in the log when it joined; rejects if its program does not fit that. */
  async untilFits(): Promise<void> {
    const end = await lastOf(this.#parts.port);
    const { follower, table } = this.#followed;
    if (this.#role !== "standby") return;
    await follower.caughtUp(end.position);
    const misfit = this.#role === "standby" ? this.#parts.misfit(table) : null;
    if (misfit !== null) throw misfit;
  }

  /** What this process says of itself. */
  #beat(): Beat {
    const { name, program, load } = this.#parts;
    const epoch = this.#own?.epoch ?? 0;
    const { position } = this.#followed.follower;
    const state = epoch > 0 ? "head" : this.#mayTakeOver && this.#fits ? "standby" : "gateway";
    return { member: name, epoch, position, state, program, load: load() ?? undefined };
  }

  get #mayTakeOver(): boolean {
    return this.#parts.takesOver && !this.#isDrained && !this.#isStopped;
  }

  get #fits(): boolean {
    return this.#role !== "standby" || this.#parts.misfit(this.#followed.table) === null;
  }

  #heard(beat: Beat): void {
    if (this.#isStopped) return;
    const { name, copies } = this.#parts;
    copies?.heard(beat);
    if (beat.state === "leaving") {
      if (beat.epoch > 0 && beat.epoch === this.#known.epoch) this.#suspicion.ended();
      return;
    }
    if (beat.epoch === 0 || beat.member === name) return;
    if (beat.epoch >= this.#known.epoch) this.#suspicion.sign();
    if (beat.state !== "handover") return this.noteEpoch(beat.epoch, beat.member);
    if (beat.epoch !== this.#known.epoch) return;
    this.#connection?.handsOver();
    if (beat.successor !== name) return;
    this.#endsAt = beat.position;
    this.#suspicion.ended();
    this.#look();
  }

  /** An epoch has begun, as the log says, or as its head says, which may come earlier. */
  noteEpoch(epoch: number, member: string): void {
    if (epoch <= this.#known.epoch || this.#isStopped) return;
    this.#known = { epoch, member };
    this.#disconnect();
    if (member === this.#parts.name) return;
    this.#suspicion.sign();
    // Whether that is so shows when something is written.
    if (this.#head !== null) void this.#head.service[DOOR].health();
    else if (this.#role !== "head") this.#connect();
  }

  #connect(): void {
    const { port, world, gateway, offer, onWarning, onFailure } = this.#parts;
    const { epoch, member } = this.#known;
    if (epoch === 0 || member === this.#parts.name || this.#connection !== null) return;
    const hello = this.#hello(epoch);
    this.#connection = new HeadConnection({
      port,
      world,
      gateway,
      member,
      hello,
      ended: () => {
        if (this.#known.epoch === epoch) this.#suspicion.ended();
      },
      refused: (error) => {
        if (error.code === "HW-3106") onFailure(error);
      },
    });
    if (offer !== null && !this.#isDrained)
      this.#offered = new OfferedHosts({ port, offer, member, hello, onWarning });
  }

  #disconnect(): void {
    this.#connection?.close();
    this.#connection = null;
    this.#offered?.close();
    this.#offered = null;
  }

  #hello(epoch: number): Hello {
    const { port, name, outline } = this.#parts;
    return { version: LINK_VERSION, log: port.id, member: name, role: "gateway", epoch, outline };
  }

  #look(): void {
    const { follower } = this.#followed;
    const rank = this.presence.members.rankOf(this.#parts.name);
    this.#lookAtSnapshots(rank);
    if (this.#followed.bytes > 0) this.#losses = 0; // it reads
    const isDue = this.#suspicion.isDue(follower.position, rank);
    if (!isDue || !this.#mayTakeOver || this.#role !== "standby") return;
    this.#change(() => this.#takeOver());
  }

  /** What this process is changes; nothing else changes it meanwhile. */
  #change(work: () => Promise<void>): Promise<void> {
    if (!this.#isStopped) this.#role = "changing";
    const changing = this.#changing.then(work);
    this.#changing = changing.catch((error: unknown) => this.#parts.onFailure(error as HeadwaterError));
    return changing;
  }

  #lookAtSnapshots(rank: number): void {
    const [followed, own, head] = [this.#followed, this.#own, this.#head];
    const isOver = () => this.#followed !== followed || this.#own !== own || this.#isStopped;
    if (this.#role === "standby" && rank === 0) this.#snapshots.ofStandby(followed, isOver);
    if (head !== null && !this.presence.members.hasStandby)
      this.#snapshots.ofHead(followed, head.bytes, isOver);
  }

  async #takeOver(): Promise<void> {
    const { follower } = this.#followed;
    const isTold = this.#endsAt > 0 && follower.position >= this.#endsAt;
    this.#endsAt = 0;
    let begun = isTold ? await this.#beginEpoch() : null; // if there is more, its record does not land
    if (begun === null) {
      const { position } = await lastOf(this.#parts.port);
      await follower.caughtUp(position).catch(() => {});
      if (follower.position < position) return this.#standBy(); // what it needed was cut off
      begun = await this.#beginEpoch();
    }
    this.#suspicion.sign();
    if (begun !== null) return this.#become(begun);
    if (!this.#isStopped) this.#role = "standby";
  }

  /** Begins an epoch behind what the table has. Null if there is more, or if the program does not fit the table. */
  async #beginEpoch(): Promise<Epoch | null> {
    const { port, name, world, misfit } = this.#parts;
    const { follower, table } = this.#followed;
    if (this.#isStopped || misfit(table) !== null) return null;
    const read = { position: follower.position, epoch: follower.progress.epoch };
    return beginEpoch(port, read, { attempt: world.unique(), member: name });
  }

  async #become(begun: Epoch): Promise<void> {
    const { port, world, address, start, gateway, copies, onWarning } = this.#parts;
    const { soon } = world;
    this.#followed.release();
    this.#own = begun;
    const { epoch } = begun;
    this.noteEpoch(epoch, this.#parts.name);
    this.presence.beat();
    const given = { soon, engines: copies?.handOver() };
    const { journal, log } = streamJournal(port, this.#followed, begun, address, given);
    let hasFailed = false;
    let service: AnyService;
    try {
      service = await start(journal, () => {
        hasFailed = true;
        if (this.#role === "head") this.#stepDown();
      });
    } catch (error) {
      const isFenced = log.check() !== null; // a later epoch has begun before the program had
      await journal.close().catch(() => {});
      this.#arrivals.cut();
      if (isFenced) return this.#standBy();
      throw error;
    }
    const hello = this.#hello(epoch);
    this.#head = new Head({ epoch, service, journal, log, soon, gateway, hello, onWarning });
    if (this.#isStopped) return;
    this.#role = "head";
    this.#arrivals.welcome(this.#head);
    this.onRole(true);
    if (hasFailed) this.#stepDown();
    else if (this.#known.epoch > epoch) void service[DOOR].health();
  }

  /** A later epoch has begun: what this head's table has in memory may be in no log. */
  #stepDown(): void {
    if (this.#role !== "head") return;
    const head = this.#abdicate();
    this.#change(async () => {
      await head?.end(0);
      await head?.close();
      await this.#standBy();
    });
  }

  /** This process is the head no longer: what arrives from now on is for the next one. */
  #abdicate(): Head | null {
    const head = this.#head;
    this.#head = null;
    this.#arrivals.cut();
    if (this.#role === "head") this.onRole(false);
    return head;
  }

  /** Follows the log with a table that has only what counts. */
  async #standBy(): Promise<void> {
    this.#own = null;
    this.#followed = await openFollowed(this.#parts, () => this, this.#followed, this.#losses > 0);
    this.#snapshots.begin();
    this.#suspicion.sign();
    if (this.#isStopped) return;
    this.#role = "standby";
    this.#connect();
  }

  /**
   * Lets a standby become the head: this one takes nothing more, what it has taken is answered, and the successor begins the next
   * epoch. Resolves with its name when it may begin.
   */
  async handOver(wanted: string | null): Promise<string> {
    if (this.#role !== "head") throw notTheHead(this.#known.member);
    const { name } = this.#parts;
    const successor = this.presence.members.successor(name, wanted);
    if (successor === null) throw noSuccessor(wanted);
    const head = this.#abdicate();
    let may: (successor: string) => void = () => {};
    const begins = new Promise<string>((resolve) => {
      may = resolve;
    });
    const changed = this.#change(async () => {
      await this.#end(head, HANDOVER_MS, successor);
      may(successor);
      await head?.close();
      await this.#standBy();
    });
    return Promise.race([begins, changed.then(() => successor)]);
  }

  /** Ends the program of this head, and says who may begin the next epoch: one of them, or any. */
  async #end(head: Head | null, graceMs: number, successor: string | null): Promise<void> {
    if (head === null) return;
    await head.end(graceMs);
    if (successor === null) return;
    const { name, program } = this.#parts;
    const { epoch, position } = head;
    this.#own = null;
    this.presence.say({ member: name, epoch, position, state: "handover", program, successor });
  }

  /** This process does not become the head any more, and offers no hosts. A head hands over first. */
  async drain(): Promise<void> {
    if (this.#role === "head") await this.handOver(null);
    this.#isDrained = true;
    this.presence.beat();
  }

  /** The log was cut where this standby wanted to read on: it begins anew, with a snapshot. False if that does not help. */
  lostTrack(followed: FollowedLog | null): boolean {
    if (followed !== this.#followed) return true; // it is not used any more
    this.#losses += 1;
    if (this.#losses > LOSSES_MAX) return false;
    if (this.#role === "standby") this.#change(() => this.#standBy());
    return true;
  }

  get #isStopped(): boolean {
    return this.#role === "stopped";
  }

  /** Leaves the cluster. A head answers what it has taken, and lets another take its place at once. */
  async leave(graceMs: number): Promise<void> {
    const { name, port, copies } = this.#parts;
    copies?.close();
    this.#role = "stopped";
    await this.#changing;
    this.#stopLooking();
    const head = this.#abdicate();
    const successor = graceMs > 0 ? this.presence.members.successor(name, null) : null;
    await this.#end(head, graceMs, successor);
    this.presence.leave(this.#beat());
    this.#disconnect();
    this.#arrivals.cut();
    this.#listener?.close();
    await head?.close();
    await this.#followed.close();
    await port.close();
  }
}
