import type { Message, Ticket } from "../../core/event.js";
import { HeadwaterError, invariant } from "../../errors.js";
import type { MessagePosition, OwnLog } from "../../model/between-logs.js";
import type { ContextClass } from "../../model/context.js";
import { rootNamed } from "../../model/current.js";
import { INVOKE, type InvocationScope, type Reference, reference } from "../../model/refs.js";
import * as rules from "../../model/rules.js";
import { inspectTree, type Method, mustBeWellFormed } from "../../model/shape.js";
import { Feed } from "../../observe/index.js";
import { areSimple, copyAll } from "../../state/values.js";
import { Slot, Unmade } from "../context/index.js";
import { Answers, AnswersInJournal, AnswersInMemory } from "../deduplication/index.js";
import {
  type EventRequest,
  type MessageBody,
  type NodeEvent,
  type NodeMessage,
  type RelayedNumber,
  running,
  type Told,
  type WaitingCaller,
} from "../event/index.js";
import { apart, goingOn, type Ports } from "../ports/index.js";
import { LocalRunner, Scheduler } from "../runner/index.js";
import { type Ledger, Mailboxes } from "../store/index.js";
import { type Caller, Clients } from "./clients.js";
import { Failures } from "./failures.js";
import { IncomingMessages, NOTHING_TAKEN, type TakenWith } from "./incoming-messages.js";
import { LogicalNode } from "./node.js";
import { OutgoingMessages } from "./outgoing-messages.js";
import { OutsideCalls, type PendingCall } from "./outside-calls.js";
import { sentMessages } from "./recovery.js";
import { closed, cutOff, noteRefusal, stopped } from "./refused.js";
import type { NodeOptions, Surroundings } from "./surroundings.js";
import { TRACED, Tracing } from "./tracing.js";
import { WatchedReads } from "./watched-reads.js";

export interface ProgramOptions extends NodeOptions {
  /** Which of the logical nodes are run here, if others are in other logs. */
  readonly ownLog?: OwnLog | null;
  /** On which host a context is, where there are several. */
  readonly hostOf?: (slot: Slot) => number | null;
  /** Where facts about the program are noted. */
  readonly feed?: Feed;
  /** Hears of every event with what came of it, for the simulator and the recorder of loads. */
  readonly onSettled?: ((event: NodeEvent) => void) | undefined;
}

/** Who asks, as far as it is known. */
export interface Asker {
  /** A connected client, whose references stop working when it is closed. */
  readonly caller?: Caller | undefined;
  /** The name that the event sees as its caller. */
  readonly client?: string | undefined;
  /** Names the request: asked again under the same name, it has its effect once. */
  readonly request?: string | undefined;
}

let lastWaiting: WaitingCaller;

/** One function for all requests: a closure for each would cost a fifth of what a request allocates. */
function keepSettlers(resolve: WaitingCaller["resolve"], reject: WaitingCaller["reject"]): void {
  lastWaiting = { resolve, reject, isLocal: true };
}

function copyArguments(args: unknown[], slot: Slot, method: Method): void {
  copyAll(args, () => rules.argumentsOf(slot, method));
}

/** The logical nodes of one program, what goes on between them, and their clients. */
export class Program implements Surroundings {
  readonly nodes = new Map<string, LogicalNode>();
  readonly roots = new Map<string, Slot>();
  /** Most programs have one, and it is asked for with each event. */
  #lastAsked: LogicalNode | null = null;
  readonly settled: ((event: NodeEvent) => void) | undefined;
  readonly #ports: Ports;
  readonly #options: ProgramOptions;
  readonly #onTheWay = new Map<string, number>();
  /** Names what tickets count: a journal with all its runs, or one run in memory. */
  readonly history: string;
  readonly answers: Answers;
  readonly feed: Feed;
  readonly failures: Failures;
  readonly clients: Clients;
  readonly reads = new WatchedReads();
  readonly #outside: OutsideCalls;
  /** To and from other logs; null if there are none. */
  #outgoing: OutgoingMessages | null = null;
  readonly incoming: IncomingMessages | null = null;
  #watchers: (() => void)[] = [];
  #stopped = false;
  #failure: HeadwaterError | null = null;

  constructor(classes: Readonly<Record<string, ContextClass>>, world: Ports, options: ProgramOptions) {
    this.#options = options;
    const { ledger, ownLog } = options;
    const ports = ledger ? goingOn(world, ledger.lastMoment()) : world;
    this.#ports = ports;
    this.answers = answersOf(ports, options);
    this.settled = options.onSettled;
    this.feed = options.feed ?? new Feed(apart);
    this.failures = new Failures(ports.now, this.feed);
    this.history = ledger?.history(ports.unique) ?? ports.unique();
    this.#outside = new OutsideCalls(this.history, ports, options.limits, this.feed, (call, result) => {
      this.node(call.slot.node).outsideCallDone(call, result);
      this.rested();
    });
    const isHere = (name: string) => ownLog?.nodes.has(name) ?? true;
    const here = Object.entries(classes).filter(([name]) => isHere(name));
    const shapes = here.flatMap(([, cls]) => inspectTree(cls));
    const unmade = options.ledger ? null : new Unmade(options.unmadeInMemory);
    for (const [name, cls] of Object.entries(classes)) {
      mustBeWellFormed(name, "a logical node");
      if (!isHere(name)) {
        this.roots.set(name, new Slot(name, null, null, undefined, cls, ledger ?? null));
        continue;
      }
      const scheduler = new Scheduler(name, cls, ports, this, { ...options, unmade });
      const runner = options.runners?.runnerFor(scheduler) ?? new LocalRunner(scheduler);
      const node = new LogicalNode(scheduler, runner, this);
      this.nodes.set(name, node);
      this.roots.set(name, node.root);
    }
    this.feed.watch(() => this.#trace());
    if (this.nodes.size === 0)
      throw new HeadwaterError("HW-1017", "a program needs at least one root class.");
    if (ledger) {
      ledger.onFailure = (error) => this.journalFailed(error);
      ledger.checkShapes(shapes);
    }
    const mailboxes = ledger ? new Mailboxes(ledger, ports, options.limits) : null;
    this.clients = new Clients(ports, ledger ?? null, mailboxes, (warning) => this.warn(warning));
    if (ledger && ownLog) {
      this.incoming = new IncomingMessages(ledger, this.nodes, (odd) => this.warn(odd));
      ledger.elsewhere = { has: (name) => !this.nodes.has(name), history: this.history };
      this.#outgoing = new OutgoingMessages(this.history, ledger, ownLog, ports, () => this.rested());
    }
    if (ledger) this.#recover(ledger);
  }

  /** Goes on from the journal: events that had not committed, armed timers, messages that had not arrived. */
  #recover(ledger: Ledger): void {
    for (const { root } of this.nodes.values()) ledger.bringUpToDate(root);
    const sent = sentMessages(ledger, this.nodes, this.roots);
    for (const node of this.nodes.values()) node.recover(ledger, sent.get(node.name) ?? new Map());
    for (const [from, byTicket] of sent) if (!this.nodes.has(from)) this.#sendFor(from, byTicket);
  }

  /** Sends what a logical node has sent that is gone since: it was promised when its events committed. */
  #sendFor(from: string, byTicket: ReadonlyMap<number, readonly Message[]>): void {
    const sequences = new Map<string, number>();
    for (const [ticket, messages] of byTicket) {
      for (const { body } of messages) {
        const out = body as MessageBody;
        if (out.kind === "client") {
          this.tell(out.client, out.message, { node: from, ticket: ticket as Ticket, index: out.index });
          continue;
        }
        if (out.kind === "elsewhere") {
          this.deliverElsewhere(from, out.to, out.position);
          continue;
        }
        const to = out.message.slot.node;
        const sequence = (sequences.get(to) ?? 0) + 1;
        sequences.set(to, sequence);
        this.deliver(from, sequence, out.message);
      }
    }
  }

  /** Nothing can commit any more: waiting callers are told, and nothing goes on. */
  journalFailed(error: HeadwaterError): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#halt(error);
    this.#failure = error;
    this.feed.note({ kind: "halted", error });
    this.rested();
  }

  /** A reference to a root, for a caller outside. */
  rootOf(name: string, asker: Asker = {}): Reference {
    const scope: InvocationScope = {
      [INVOKE]: (target, method, args) => this.ask(target as Slot, method, args, asker),
    };
    return reference(scope, this.node(name).root);
  }

  /** Makes a request: an event, or what came of it when it was made before. */
  ask(slot: Slot, method: Method, args: unknown[], asker: Asker): Promise<unknown> {
    const { request } = asker;
    // At once, not as a rejection: an event that does not await it must fail, too.
    if (running.slot !== null && running.method !== null)
      throw rules.requestInside(running.slot, running.method, slot, method);
    if (request === undefined) return this.#request(slot, method, args, asker);
    const { caller, client = caller?.id ?? "" } = asker;
    const payer = { caller: "the program", part: client };
    return this.answers.once(request, payer, () => this.#request(slot, method, args, asker));
  }

  node(name: string): LogicalNode {
    if (this.#lastAsked?.name === name) return this.#lastAsked;
    const node = this.nodes.get(name);
    invariant(node !== undefined, `there is no logical node "${name}"`);
    this.#lastAsked = node;
    return node;
  }

  #request(slot: Slot, method: Method, args: unknown[], asker: Asker): Promise<unknown> {
    const { caller, client = caller?.id, request } = asker;
    const promise = new Promise<unknown>(keepSettlers);
    const waiting = lastWaiting;
    if (caller !== undefined && !this.clients.isConnected(caller)) waiting.reject(closed(caller.id));
    else {
      if (this.feed.link !== null) waiting.trace = this.feed.link.current() ?? undefined;
      this.submit(slot, method, args, client, request, waiting);
    }
    return promise;
  }

  /** Takes a request from outside, and tells its caller what comes of it. */
  submit(
    slot: Slot,
    method: Method,
    args: unknown[],
    client: string | undefined,
    request: string | RelayedNumber | undefined,
    waiting: WaitingCaller,
  ): void {
    try {
      this.mustGoOn();
      const refusal = this.ledger?.journal.refusal() ?? null;
      if (refusal !== null) throw refusal;
      if (!areSimple(args)) copyArguments(args, slot, method);
      this.node(slot.node).submit(slot, method, args, client, waiting, request);
    } catch (error) {
      waiting.reject(error);
      noteRefusal(this.feed, error, slot, method);
    }
  }

  /** Nodes note what becomes of events only while an observer wants to know. */
  #trace(): void {
    const isWanted = TRACED.some((kind) => this.feed.wants(kind));
    for (const node of this.nodes.values())
      node.trace(isWanted ? new Tracing(node.name, this.feed, () => this.now(), this.hostOf) : null);
  }

  /** The host of a context; null if the program runs in one thread. */
  readonly hostOf = (slot: Slot): number | null => this.#options.hostOf?.(slot) ?? null;

  /** By the clock that only goes forward: delays, and the ages of what is kept, are measured by it. */
  now(): number {
    return this.#ports.now();
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Refuses what is asked of a program that has stopped. */
  mustGoOn(): void {
    if (this.#stopped) throw this.#failure ?? stopped();
  }

  /** Why nothing can commit any more; null if it can. */
  async health(): Promise<HeadwaterError | null> {
    const failure = this.#stopped ? null : await (this.ledger?.check() ?? null);
    if (failure !== null) this.journalFailed(failure);
    return this.#failure ?? (this.#stopped ? stopped() : null);
  }

  get ledger(): Ledger | null {
    return this.#options.ledger ?? null;
  }

  /** Is nothing under way, apart from armed timers? */
  get isIdle(): boolean {
    for (const node of this.nodes.values()) if (!node.isQuiet) return false;
    return this.#onTheWay.size === 0 && this.#outside.count === 0 && (this.#outgoing?.isEmpty ?? true);
  }

  /** Resolves when the condition holds; it is looked at whenever a logical node comes to rest. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  rested(): void {
    if (this.#watchers.length === 0) return;
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const look of watchers) look();
  }

  /** Takes no more requests, answers those it has taken, then stops everything else where it is. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    const nodes = [...this.nodes.values()];
    let isOver = false;
    const callOff = this.#ports.at(this.#ports.now() + graceMs, () => {
      isOver = true;
      this.rested();
    });
    await this.until(() => isOver || !nodes.some((node) => node.isAwaited));
    callOff();
    this.#halt(cutOff());
    this.rested();
  }

  #halt(reason: HeadwaterError): void {
    for (const node of this.nodes.values()) node.halt(reason);
    this.#outside.stop();
    this.answers.store.stop();
    this.clients.stop();
    this.#outgoing?.stop();
    this.incoming?.stop();
  }

  peer(cls: ContextClass, name: string | undefined): Slot {
    return rootNamed(this.roots, cls, name);
  }

  backlog(from: string, to: string): number {
    return this.#onTheWay.get(`${from} ${to}`) ?? this.#outgoing?.backlog(from, to) ?? 0;
  }

  deliverElsewhere(from: string, to: string, position: MessagePosition): void {
    this.#outgoing?.send(from, to, position);
  }

  takenWith(events: readonly NodeEvent[], open: readonly NodeEvent[]): TakenWith {
    return this.incoming?.takenWith(events, open) ?? NOTHING_TAKEN;
  }

  deliver(from: string, sequence: number, message: NodeMessage): void {
    const to = message.slot.node;
    const { parent, index } = message.origin;
    if (!this.nodes.has(to)) return this.deliverElsewhere(from, to, [parent, index]);
    const pair = `${from} ${to}`;
    this.#onTheWay.set(pair, this.backlog(from, to) + 1);
    let arrived = false;
    this.#ports.transmit(from, to, () => {
      if (!arrived) this.#leftOver(pair, this.backlog(from, to) - 1);
      arrived = true;
      this.node(to).receive(from, sequence, message);
    });
  }

  /** Pairs between which nothing is on its way are not kept: there may be as many as nodes times nodes. */
  #leftOver(pair: string, count: number): void {
    if (count === 0) this.#onTheWay.delete(pair);
    else this.#onTheWay.set(pair, count);
  }

  callOutside(call: PendingCall): void {
    this.#outside.add(call);
  }

  get outsideCalls(): number {
    return this.#outside.count;
  }

  tell(client: string, message: unknown, from: Told): void {
    this.clients.tell(client, message, from);
  }

  warn(warning: HeadwaterError): void {
    this.feed.note({ kind: "warning", error: warning });
  }

  failed(request: EventRequest, error: unknown): void {
    this.failures.ofEvent(request, error);
  }
}

function answersOf(ports: Ports, { limits, ledger, marks }: ProgramOptions): Answers {
  const { answersMs, answerBytes, answerBytesInJournal } = limits;
  if (!ledger) return new Answers(ports.now, { answersMs, bytesMax: answerBytes }, new AnswersInMemory());
  const store = new AnswersInJournal(ledger, ports, marks);
  return new Answers(ports.now, { answersMs, bytesMax: answerBytesInJournal }, store);
}
