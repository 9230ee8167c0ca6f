import { Packr, RESET_BUFFER_MODE } from "msgpackr";
import { type Path, pathOf } from "../../model/path.js";
import { encode } from "../../state/codec.js";
import type { Slot } from "../context/index.js";
import { WireWriter } from "./bytes.js";
import { HELD, HOW, type HostMessage, KIND, packedEnd, packedValue, packedWireValue } from "./packed.js";
import type {
  AboveOnWire,
  AttemptId,
  CallerOnWire,
  CallRequest,
  EventHeader,
  Existing,
  ToHead,
  ToHost,
  WireOutcome,
  WireValue,
} from "./wire.js";

/** Contexts and names that one end of a connection keeps numbers for; then it begins again. */
const NUMBERED_MAX = 65_536;

/** Beyond this, the buffer that messages are packed in is not worth keeping. */
const BUFFER_BYTES_KEPT_MAX = 1 << 20;

/** Messages with what events pass. Others pass it on, or are cut into pieces where they are made. */
const CARRYING: ReadonlySet<HostMessage["kind"]> = new Set(["run", "ask", "return", "finish"]);

const NONE: readonly never[] = [];

/** Gathers messages for one batch. */
export class Outbox<M extends HostMessage> {
  readonly #packr = new Packr({ useRecords: false, encodeUndefinedAsNil: false });
  readonly #contexts = new Map<Slot, number>();
  /** Numbers of evicted contexts, for others; both ends count alike. */
  readonly #free: number[] = [];
  readonly #names = new Map<string, number>();
  readonly #writer = new WireWriter();
  #lastTicket = 0;
  #lastTime = 0;
  #lastSteadyMs = 0;
  /** Where the present message begins, behind what must be known before it. */
  #start = 0;
  count = 0;

  /** `messageBytes` is the most that an event may have in one message. */
  constructor(readonly messageBytes = Number.POSITIVE_INFINITY) {}

  /** How many bytes the batch has so far. */
  get bytes(): number {
    return this.#writer.length;
  }

  /** False if an event has more in this message than it may: then the message is not in the batch. */
  add(message: M): boolean {
    const [ticket, time, steadyMs] = [this.#lastTicket, this.#lastTime, this.#lastSteadyMs];
    this.#start = this.#writer.length;
    let isAdded = false;
    try {
      this.#add(message);
      const bytes = this.#writer.length - this.#start;
      isAdded = bytes <= this.messageBytes || !CARRYING.has(message.kind);
    } finally {
      if (!isAdded) {
        this.#writer.truncate(this.#start);
        this.#lastTicket = ticket;
        this.#lastTime = time;
        this.#lastSteadyMs = steadyMs;
      }
    }
    if (!isAdded) return false;
    this.count += 1;
    return true;
  }

  /** The batch so far. `confirmed` says how many batches from the other end have been dealt with since the last one. */
  batch(confirmed: number): Uint8Array {
    this.count = 0;
    this.#lastTicket = 0;
    this.#lastTime = 0;
    this.#lastSteadyMs = 0;
    return this.#writer.take(confirmed);
  }

  #add(message: HostMessage): void {
    switch (message.kind) {
      case "run":
        return this.#addRun(message);
      case "finish":
        return this.#addFinish(message);
      case "forget":
        return this.#begin(KIND.forget, message);
      case "publish":
        return this.#begin(KIND.publish, message);
      case "evict": {
        const context = this.#context(message.slot);
        this.#writer.forNumbers(2).uint(KIND.evict);
        this.#writer.uint(context);
        this.#contexts.delete(message.slot);
        this.#free.push(context);
        return;
      }
      case "ask":
        return this.#addAsk(message);
      case "enter":
        return this.#addEnter(message);
      case "call":
        return this.#addCall(message);
      case "return":
        return this.#addReturn(message);
      case "returned":
        return this.#addReturned(message);
      case "refused":
        return this.#addOther({ ...message, error: packedWireValue(message.error) });
      default:
        this.#addOther(message);
    }
  }

  #addOther(packable: object): void {
    this.#writer.forNumbers(1).uint(KIND.other);
    this.#addPacked(packable);
  }

  #addPacked(packable: object): void {
    const packed = this.#packr.pack(packable, RESET_BUFFER_MODE);
    this.#writer.blob(packed);
    if (packed.length > BUFFER_BYTES_KEPT_MAX) this.#packr.useBuffer(Buffer.allocUnsafeSlow(8192));
  }

  /** What begins with the name of an attempt. */
  #begin(kind: number, { node, ticket, attempt }: AttemptId): void {
    const name = this.#name(node);
    this.#start = this.#writer.length;
    this.#writer.forNumbers(4).uint(kind);
    this.#writer.uint(name);
    this.#ticket(ticket);
    this.#writer.uint(attempt);
  }

  #ticket(ticket: number): void {
    this.#writer.int(ticket - this.#lastTicket);
    this.#lastTicket = ticket;
  }

  #addRun(header: EventHeader): void {
    const { slot, method, ticket, attempt, args, isAlone, after } = header;
    const context = this.#context(slot);
    const name = this.#name(method.name);
    this.#start = this.#writer.length;
    const writer = this.#writer.forNumbers(6);
    writer.uint(KIND.run);
    writer.uint(context);
    writer.uint(name);
    this.#ticket(ticket);
    writer.uint(attempt);
    this.#addMoment(header);
    writer.forNumbers(2).uint(after !== null ? HOW.after : isAlone ? HOW.alone : HOW.notAlone);
    if (after !== null) writer.int(ticket - after);
    writer.value(args);
    this.#addRest(header);
  }

  /** What most events do not have. */
  #addRest({ caller, origin, seen }: EventHeader): void {
    const isBare = caller === null && origin.kind === "request" && seen.length === 0;
    this.#writer.forNumbers(1).uint(isBare ? 0 : 1);
    if (!isBare) this.#addPacked([packedValue(caller), origin.kind === "request" ? null : origin, seen]);
  }

  #addMoment({ time, steadyMs }: EventHeader): void {
    const isSame = time === this.#lastTime && steadyMs === this.#lastSteadyMs;
    this.#writer.uint(isSame ? 0 : 1);
    if (isSame) return;
    this.#writer.value(time);
    this.#writer.value(steadyMs);
    this.#lastTime = time;
    this.#lastSteadyMs = steadyMs;
  }

  #addAsk(message: Extract<ToHead, { kind: "ask" }>): void {
    this.#nameOfCall(message);
    this.#begin(KIND.ask, message);
    this.#writer.forNumbers(1).uint(message.ask);
    this.#addAsked(message);
  }

  #addEnter(message: Extract<ToHost, { kind: "enter" }>): void {
    this.#nameAbove(message);
    this.#begin(KIND.enter, message);
    this.#writer.forNumbers(1).uint(message.ask);
    this.#addAbove(message);
  }

  #addCall(message: Extract<ToHost, { kind: "call" }>): void {
    const { header, asked, call } = message;
    const context = this.#context(header.slot);
    const name = this.#name(header.method.name);
    this.#nameOfCall(asked);
    this.#nameAbove(message);
    this.#begin(KIND.call, message);
    const writer = this.#writer.forNumbers(4);
    writer.uint(call);
    writer.uint(context);
    writer.uint(name);
    this.#addMoment(header);
    writer.value(header.args);
    this.#addRest(header);
    this.#addAsked(asked);
    this.#addAbove(message);
  }

  #addReturn(message: Extract<ToHead, { kind: "return" }>): void {
    for (const [path] of message.entered) this.#namePath(path);
    this.#begin(KIND.return, message);
    this.#writer.forNumbers(1).uint(message.call);
    this.#addStates(message.entered);
    this.#addEnd(message, message.doom);
  }

  #addReturned(message: Extract<ToHost, { kind: "returned" }>): void {
    this.#begin(KIND.returned, message);
    const writer = this.#writer.forNumbers(2);
    writer.uint(message.ask);
    writer.uint(message.call);
    this.#addEnd(message, message.doom);
  }

  /** Names are said in front of the message that they are in. */
  #nameOfCall({ path, method, callers, seen, existing }: CallRequest): void {
    this.#name(method);
    this.#namePath(path);
    for (const [each] of callers) this.#namePath(each);
    for (const [each] of seen) this.#namePath(each);
    for (const [each] of existing ?? NONE) this.#namePath(each);
  }

  #nameAbove({ held, seen }: AboveOnWire): void {
    for (const path of held) this.#namePath(path);
    for (const [path] of seen) this.#namePath(path);
  }

  #namePath(path: Path): void {
    for (let i = 0; i < path.length; i++) this.#name((path[i] as Path[number]).field);
  }

  #addAsked({ path, method, args, positions, within, callers, seen, existing }: CallRequest): void {
    this.#addPath(path);
    const writer = this.#writer.forNumbers(3 + positions.length);
    writer.uint(this.#name(method));
    writer.uint(within);
    writer.uint(positions.length);
    for (let i = 0; i < positions.length; i++) writer.uint(positions[i] as number);
    writer.value(args);
    writer.forNumbers(1).uint(callers.length);
    for (let i = 0; i < callers.length; i++) this.#addCaller(callers[i] as CallerOnWire);
    this.#addStates(seen);
    this.#addExisting(existing);
  }

  #addCaller([path, isHeld, state]: CallerOnWire): void {
    this.#addPath(path);
    const isState = state instanceof Uint8Array;
    this.#writer.forNumbers(1).uint((isHeld ? HELD.held : 0) + (isState ? HELD.state : 0));
    if (isState) this.#writer.blob(state);
    else this.#addPacked(state);
  }

  #addExisting(existing: Existing | undefined): void {
    this.#writer.forNumbers(1).uint(existing === undefined ? 0 : existing.length + 1);
    for (const [path, exists, isChanged] of existing ?? NONE) {
      this.#addPath(path);
      this.#writer.forNumbers(1).uint((exists ? 1 : 0) + (isChanged ? 2 : 0));
    }
  }

  #addAbove({ held, seen }: AboveOnWire): void {
    this.#writer.forNumbers(1).uint(held.length);
    for (let i = 0; i < held.length; i++) this.#addPath(held[i] as Path);
    this.#addStates(seen);
  }

  #addStates(states: readonly (readonly [Path, Uint8Array])[]): void {
    this.#writer.forNumbers(1).uint(states.length);
    for (let i = 0; i < states.length; i++) {
      const [path, state] = states[i] as readonly [Path, Uint8Array];
      this.#addPath(path);
      this.#writer.blob(state);
    }
  }

  #addPath(path: Path): void {
    this.#writer.forNumbers(1).uint(path.length);
    for (let i = 0; i < path.length; i++) {
      const { field, key, json } = path[i] as Path[number];
      this.#writer.forNumbers(1).uint(2 * this.#name(field) + (json === undefined ? 0 : 1));
      this.#writer.value(json ?? key);
    }
  }

  /** How a call ended: most have returned a value, and there is nothing else to say. */
  #addEnd(end: WireOutcome, doom: WireValue | null): void {
    const { ok, value, effects, writes, existing } = end;
    const isBare = effects.length === 0 && writes.length === 0 && existing.length === 0 && doom === null;
    if (ok && isBare && "value" in value && value.stack === undefined) {
      this.#writer.forNumbers(1).uint(1);
      this.#writer.value(value.value);
    } else {
      this.#writer.forNumbers(1).uint(0);
      this.#addPacked({ ...packedEnd(end), doom: doom === null ? null : packedWireValue(doom) });
    }
  }

  #addFinish(message: Extract<HostMessage, { kind: "finish" }>): void {
    const { ok, value, effects, writes, existing, isOver } = message;
    const isBare = effects.length === 0 && writes.length === 0 && existing.length === 0;
    if (ok && isOver && "value" in value && isBare) {
      this.#begin(KIND.over, message);
      this.#writer.value(value.value);
    } else {
      this.#begin(KIND.finish, message);
      this.#writer.forNumbers(1).uint(isOver ? 1 : 0);
      this.#addEnd(message, null);
    }
  }

  #context(slot: Slot): number {
    const known = this.#contexts.get(slot);
    if (known !== undefined) return known;
    const node = this.#name(slot.node);
    if (this.#contexts.size === NUMBERED_MAX) this.#afresh();
    const number = this.#free.pop() ?? this.#contexts.size;
    this.#contexts.set(slot, number);
    this.#writer.forNumbers(2).uint(KIND.context);
    this.#writer.uint(node);
    this.#writer.blob(encode(pathOf(slot)));
    return number;
  }

  #name(name: string): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, this.#names.size);
    this.#writer.forNumbers(1).uint(KIND.name);
    this.#writer.text(name);
    return this.#names.size - 1;
  }

  /** The names stay: there are only as many as the program's classes have methods. */
  #afresh(): void {
    this.#contexts.clear();
    this.#free.length = 0;
    this.#writer.forNumbers(1).uint(KIND.afresh);
  }
}
