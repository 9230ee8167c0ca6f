import { randomUUID } from "node:crypto";
import { HeadwaterError } from "../errors.js";
import { type AnyService, HOSTS } from "../host/service.js";
import type { Journal } from "../journal/journal.js";
import { damaged } from "../journal/problems.js";
import { BEAT_MS, readBeat, sayBeat } from "../journal/stream/beats.js";
import { beginEpoch, type Epoch, lastOf, patiently } from "../journal/stream/epoch.js";
import { FollowedTable } from "../journal/stream/followed-table.js";
import type { Following, LogPort } from "../journal/stream/log-port.js";
import { writeSnapshot } from "../journal/stream/snapshot.js";
import { streamJournal } from "../journal/stream/stream-journal.js";
import { DOOR } from "../model/door.js";
import { memberPart } from "./dial.js";
import type { Gateway } from "./gateway.js";
import { Head } from "./head.js";
import { HeadConnection } from "./head-connection.js";
import { type Hello, LINK_VERSION, type Link, listenForLinks } from "./links.js";
import { Members } from "./members.js";
import { type HostOffer, OfferedHosts } from "./offered-hosts.js";
import { answerOperator, type OperatorRequest } from "./operator.js";
import type { HeadMessage } from "./relayed.js";
import { Suspicion } from "./suspicion.js";

export interface MemberParts {
  /** No other process has it. */
  readonly name: string;
  readonly port: LogPort;
  /** As it is shown. */
  readonly address: string;
  /** Of the table's files. */
  readonly directory: string;
  /** Where other members reach this process. */
  readonly host: string;
  /** Whether it may become the head. */
  readonly takesOver: boolean;
  readonly program: string;
  /** The program in words, which must be the same for all members. */
  readonly outline: string;
  readonly gateway: Gateway;
  /** The hosts that this process offers while another one is the head. */
  readonly offer: HostOffer | null;
  /** Starts the program on a journal; `onFailure` hears that the journal takes no more. */
  readonly start: (journal: Journal, onFailure: () => void) => Promise<AnyService>;
  /** A snapshot is due when so many bytes of the log were read since the last one, or since this process joined. */
  readonly snapshotBytes: number;
  readonly onWarning: (text: string) => void;
  /** This process can be no member any more. */
  readonly onFailure: (error: HeadwaterError) => void;
}

const LOOK_MS = 50;
/** A log that cannot be read so often is damaged. */
const LOSSES_MAX = 3;

/**
 * One process of a cluster. It follows the log as a standby, takes the head's place when that is gone, and becomes a standby again when
 * another epoch has begun. The log is the lock: the process whose epoch record lands is the head, whatever the others believe.
 */
export class Member {
  readonly members = new Members(() => performance.now());
  readonly #parts: MemberParts;
  readonly #suspicion = new Suspicion(() => performance.now());
  #followed: FollowedTable;
  #role: "standby" | "changing" | "head" | "stopped" = "standby";
  #head: Head | null = null;
  #known: { readonly epoch: number; readonly member: string } = { epoch: 0, member: "" };
  #connection: HeadConnection | null = null;
  #offered: OfferedHosts | null = null;
  #own: Epoch | null = null;
  #losses = 0;
  /** Hears that this process has become the head, or is the head no longer. */
  onRole: (isHead: boolean) => void = () => {};
  #isSnapshotting = false;
  /** How many bytes were read when the last snapshot began. */
  #snapshotAt = 0;
  #timers: NodeJS.Timeout[] = [];
  #hearing: Following | null = null;
  #listener: { close(): void } | null = null;
  #changing: Promise<void> = Promise.resolve();

  private constructor(parts: MemberParts, followed: FollowedTable) {
    this.#parts = parts;
    this.#followed = followed;
  }

  static async join(parts: MemberParts): Promise<Member> {
    let member: Member | null = null;
    const followed = await open(parts, () => member);
    member = new Member(parts, followed);
    await member.#begin();
    return member;
  }

  /** Has a client messages kept, as far as the log was followed? */
  get table(): FollowedTable["table"] {
    return this.#followed.table;
  }

  get isHead(): boolean {
    return this.#role === "head";
  }

  /** The program, while this process is the head. */
  get service(): AnyService | null {
    return this.#head?.service ?? null;
  }

  get epoch(): number {
    return this.#known.epoch;
  }

  async #begin(): Promise<void> {
    const { port, host, name } = this.#parts;
    const listener = await listenForLinks<HeadMessage>(host, {
      accept: (link, hello) => this.#accept(link, hello),
    });
    this.#listener = listener;
    const reached = Buffer.from(JSON.stringify(listener.address));
    await patiently(port, () => port.putPart(memberPart(name), reached));
    this.#hearing = port.hear((bytes) => this.#heard(bytes));
    this.#timers.push(
      setInterval(() => this.#beat(), BEAT_MS),
      setInterval(() => this.#look(), LOOK_MS),
    );
    this.#beat();
    const end = await lastOf(port);
    if (end.position === 0) this.#suspicion.ended(); // the cluster is new
  }

  /** Another process has connected, and has said what it wants. */
  #accept(link: Link<HeadMessage>, hello: Hello): void {
    if (hello.role === "operator" && hello.version === LINK_VERSION && hello.log === this.#parts.port.id)
      answerOperator(link, (request) => this.#answer(request));
    else if (this.#head === null) link.cut();
    else this.#head.accept(link, hello);
  }

  async #answer({ question }: OperatorRequest): Promise<unknown> {
    if (question === "hosts") return this.#head?.service[HOSTS]?.list() ?? null;
    throw new HeadwaterError(
      "HW-3106",
      `this member of the cluster does not know how to answer "${question}".`,
    );
  }

  #beat(isLeaving = false): void {
    const { port, name, program } = this.#parts;
    const epoch = this.#own?.epoch ?? 0;
    const position = this.#followed.follower.position;
    const state = isLeaving ? "leaving" : this.#parts.takesOver ? "standby" : "gateway";
    sayBeat(port, {
      member: name,
      epoch,
      position,
      state: epoch > 0 && !isLeaving ? "head" : state,
      program,
    });
  }

  #heard(bytes: Buffer): void {
    const beat = readBeat(bytes);
    if (beat === null || this.#role === "stopped") return;
    if (beat.state === "leaving") {
      this.members.left(beat.member);
      if (beat.epoch > 0 && beat.epoch === this.#known.epoch) this.#suspicion.ended();
      return;
    }
    this.members.heard(beat);
    if (beat.epoch === 0 || beat.member === this.#parts.name) return;
    if (beat.epoch >= this.#known.epoch) this.#suspicion.sign();
    this.noteEpoch(beat.epoch, beat.member);
  }

  /** An epoch has begun, as the log says, or as its head says, which may come earlier. */
  noteEpoch(epoch: number, member: string): void {
    if (epoch <= this.#known.epoch || this.#role === "stopped") return;
    this.#known = { epoch, member };
    this.#disconnect();
    if (member === this.#parts.name) return;
    this.#suspicion.sign();
    // Whether that is so shows when something is written.
    if (this.#head !== null) void this.#head.service[DOOR].health();
    else if (this.#role !== "head") this.#connect();
  }

  #connect(): void {
    const { port, gateway, offer, onWarning, onFailure } = this.#parts;
    const { epoch, member } = this.#known;
    if (epoch === 0 || member === this.#parts.name || this.#connection !== null) return;
    this.#connection = new HeadConnection({
      port,
      gateway,
      member,
      hello: this.#hello(epoch),
      ended: () => {
        if (this.#known.epoch === epoch) this.#suspicion.ended();
      },
      refused: (error) => {
        if (error.code === "HW-3106") onFailure(error);
      },
    });
    if (offer !== null)
      this.#offered = new OfferedHosts({ port, offer, member, hello: this.#hello(epoch), onWarning });
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
    const rank = this.members.rankOf(this.#parts.name);
    if (this.#role === "standby" && rank === 0) this.#snapshot();
    const isDue = this.#suspicion.isDue(follower.position, rank);
    if (!isDue || !this.#parts.takesOver || this.#role !== "standby") return;
    this.#role = "changing";
    this.#changing = this.#takeOver().catch((error: unknown) => {
      this.#parts.onFailure(error as HeadwaterError);
    });
  }

  /** The first of the standbys makes snapshots, since its table has only what counts, and no caller waits for it. */
  #snapshot(): void {
    const followed = this.#followed;
    const { port, snapshotBytes, onWarning } = this.#parts;
    if (this.#isSnapshotting || followed.bytes - this.#snapshotAt < snapshotBytes) return;
    this.#isSnapshotting = true;
    this.#snapshotAt = followed.bytes;
    writeSnapshot(port, followed.table, followed.follower.complete)
      .catch((error: unknown) =>
        onWarning(`a snapshot could not be made, and is tried again later: ${error}`),
      )
      .finally(() => {
        this.#isSnapshotting = false;
      });
  }

  async #takeOver(): Promise<void> {
    const { port, name } = this.#parts;
    const { follower } = this.#followed;
    const end = await lastOf(port);
    await follower.caughtUp(end.position);
    const read = { position: follower.position, epoch: follower.progress.epoch };
    const begun = this.#isStopped
      ? null
      : await beginEpoch(port, read, { attempt: randomUUID(), member: name });
    this.#suspicion.sign();
    if (begun !== null) return this.#become(begun);
    if (!this.#isStopped) this.#role = "standby";
  }

  async #become(begun: Epoch): Promise<void> {
    const { port, address, start, gateway, onWarning } = this.#parts;
    this.#followed.release();
    this.#own = begun;
    this.noteEpoch(begun.epoch, this.#parts.name);
    this.#beat();
    const { journal } = streamJournal(port, this.#followed, begun, address, async () => {});
    let hasFailed = false;
    const service = await start(journal, () => {
      hasFailed = true;
      if (this.#role === "head") this.#stepDown();
    });
    const hello = this.#hello(begun.epoch);
    const { epoch } = begun;
    this.#head = new Head({ epoch, service, journal, gateway, hello, onWarning });
    if (this.#isStopped) return;
    this.#role = "head";
    this.onRole(true);
    if (hasFailed) this.#stepDown();
    else if (this.#known.epoch > epoch) void service[DOOR].health();
  }

  /** A later epoch has begun: what this head's table has in memory may be in no log. */
  #stepDown(): void {
    if (this.#role !== "head") return;
    this.#role = "changing";
    this.onRole(false);
    const head = this.#head;
    this.#head = null;
    this.#own = null;
    this.#changing = (async () => {
      await head?.stepDown(0);
      this.#followed = await open(this.#parts, () => this);
      this.#snapshotAt = 0;
      this.#suspicion.sign();
      if (this.#isStopped) return;
      this.#role = "standby";
      this.#connect();
    })().catch((error: unknown) => this.#parts.onFailure(error as HeadwaterError));
  }

  /** The log was cut where this standby wanted to read on: it begins anew, with a snapshot. False if that does not help. */
  lostTrack(): boolean {
    if (this.#role !== "standby" || this.#losses >= LOSSES_MAX) return false;
    this.#losses += 1;
    this.#role = "changing";
    this.#changing = (async () => {
      await this.#followed.close();
      this.#followed = await open(this.#parts, () => this);
      this.#snapshotAt = 0;
      if (!this.#isStopped) this.#role = "standby";
    })().catch((error: unknown) => this.#parts.onFailure(error as HeadwaterError));
    return true;
  }

  get #isStopped(): boolean {
    return this.#role === "stopped";
  }

  /** Leaves the cluster. A head answers what it has taken, and lets another take its place at once. */
  async leave(graceMs: number): Promise<void> {
    this.#role = "stopped";
    await this.#changing;
    for (const timer of this.#timers) clearInterval(timer);
    const head = this.#head;
    this.#head = null;
    await head?.stepDown(graceMs);
    this.#beat(true);
    this.#disconnect();
    this.#hearing?.stop();
    this.#listener?.close();
    await this.#followed.close();
    await this.#parts.port.close();
  }
}

function open(parts: MemberParts, member: () => Member | null): Promise<FollowedTable> {
  const { port, address, directory, onWarning, onFailure } = parts;
  return FollowedTable.open(port, {
    address,
    directory,
    onWarning,
    onEpoch: (epoch, name) => member()?.noteEpoch(epoch, name),
    onFailure: (what) => {
      if (member()?.lostTrack() !== true) onFailure(damaged(address, what));
    },
  });
}
