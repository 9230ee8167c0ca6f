import { Packr, RESET_BUFFER_MODE } from "msgpackr";
import { pathOf } from "../../model/path.js";
import { encode } from "../../state/codec.js";
import type { Slot } from "../context/index.js";
import { WireWriter } from "./bytes.js";
import { HOW, type HostMessage, KIND, packedEnd, packedValue, packedWireValue } from "./packed.js";
import type { AttemptId, EventHeader } from "./wire.js";

/** Contexts and names that one end of a connection keeps numbers for; then it begins again. */
const NUMBERED_MAX = 65_536;

/** Beyond this, the buffer that messages are packed in is not worth keeping. */
const BUFFER_BYTES_KEPT_MAX = 1 << 20;

/** Messages with what events pass. Others pass it on, or are cut into pieces where they are made. */
const CARRYING: ReadonlySet<HostMessage["kind"]> = new Set(["run", "ask", "return", "finish"]);

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
    this.#add(message);
    if (this.#writer.length - this.#start > this.messageBytes && CARRYING.has(message.kind)) {
      this.#writer.truncate(this.#start);
      this.#lastTicket = ticket;
      this.#lastTime = time;
      this.#lastSteadyMs = steadyMs;
      return false;
    }
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
      case "evict": {
        const context = this.#context(message.slot);
        this.#writer.forNumbers(2).uint(KIND.evict);
        this.#writer.uint(context);
        this.#contexts.delete(message.slot);
        this.#free.push(context);
        return;
      }
      case "call": {
        const asked = { ...message.asked, args: packedValue(message.asked.args) };
        return this.#addOther({ ...message, header: this.#header(message.header), asked });
      }
      case "ask":
        return this.#addOther({ ...message, args: packedValue(message.args) });
      case "return":
      case "returned": {
        const doom = message.doom === null ? null : packedWireValue(message.doom);
        return this.#addOther({ ...message, ...packedEnd(message), doom });
      }
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
    const { slot, method, ticket, attempt, args, caller, origin, seen, isAlone, after } = header;
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
    const isBare = caller === null && origin.kind === "request" && seen.length === 0;
    writer.forNumbers(1).uint(isBare ? 0 : 1);
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

  #header({
    slot,
    method,
    ticket,
    attempt,
    time,
    steadyMs,
    args,
    caller,
    origin,
    seen,
  }: EventHeader): unknown[] {
    const where = [this.#context(slot), this.#name(method.name), ticket, attempt, time, steadyMs];
    return [...where, packedValue(args), packedValue(caller), origin, seen];
  }

  #addFinish(message: Extract<HostMessage, { kind: "finish" }>): void {
    const { ok, value, effects, writes, existing, isOver } = message;
    const isBare = effects.length === 0 && writes.length === 0 && existing.length === 0;
    if (ok && isOver && "value" in value && isBare) {
      this.#begin(KIND.over, message);
      this.#writer.value(value.value);
    } else {
      this.#begin(KIND.finish, message);
      this.#addPacked({ isOver, ...packedEnd(message) });
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
