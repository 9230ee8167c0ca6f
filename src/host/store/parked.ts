import type { Ticket } from "../../core/event.js";
import { HeadwaterError } from "../../errors.js";
import type { Journal, Write } from "../../journal/journal.js";
import { pathOf, type Step, showPath } from "../../model/path.js";
import { decode, encode } from "../../state/codec.js";
import type { NodeEvent, Origin } from "../event/index.js";

/** An event that ended every host it ran on, as the journal keeps it. */
export interface StoredParked {
  readonly path: readonly Step[];
  readonly method: string;
  readonly args: unknown[];
  readonly startedBy: Origin["kind"];
  /** When it got its ticket. */
  readonly time: number;
  readonly hostsLost: number;
  readonly why: string;
}

/** The same for readers of the list. */
export interface ParkedEvent {
  /** For `replay` and `drop`: the name of its logical node and the ticket that it had. */
  readonly id: string;
  readonly context: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly startedBy: string;
  /** When it got its ticket, in milliseconds since 1970. */
  readonly time: number;
  /** How many hosts, or processes, have ended while it was running there. */
  readonly hostsLost: number;
  /** Why the last of them ended. */
  readonly why: string;
  /** What it takes in the journal. */
  readonly bytes: number;
}

const KEYS = "p/";
const DIGITS = 16;
export const PARKED_BYTES_MAX = 64 * 2 ** 20;

/** Under which keys a journal has the parked events of a logical node. */
export function keysOfParked(node: string): string {
  return `${KEYS}${encodeURIComponent(node)}/`;
}

export function parkedKey(node: string, ticket: number): string {
  return `${keysOfParked(node)}${String(ticket).padStart(DIGITS, "0")}`;
}

export function idOf(node: string, ticket: number): string {
  return `${node}/${ticket}`;
}

/**
 * The events of a program that no caller outside can ask for again and that are not run again either, because they end
 * whatever runs them. The journal keeps each of them, in place of the key that it had until then, with its arguments.
 */
export class Parked {
  constructor(
    readonly journal: Journal,
    readonly bytesMax: number = PARKED_BYTES_MAX,
  ) {}

  /** Parks an event, if no caller outside can ask for it again. Returns why there is no room for it, if so. */
  takeIn(event: NodeEvent): HeadwaterError | null {
    const { origin, record, slot, method } = event.payload;
    if (origin.kind === "request" || record === null) return null;
    record.isParked = true;
    const { value } = parkedWrite(event);
    let bytes = value?.byteLength ?? 0;
    for (const [, kept] of this.journal.range(KEYS)) bytes += kept.byteLength;
    if (bytes <= this.bytesMax) return null;
    const what =
      `${slot}.${method.name}(…) ends whatever runs it and must be parked, but with it the parked events would take ${bytes} ` +
      `bytes, more than the ${this.bytesMax} of \`limits.parkedBytes\`. So the program stops; the journal has the event. ` +
      "Replay or drop parked events (`headwater events parked`), or raise the limit, and start it again.";
    return new HeadwaterError("HW-6032", what);
  }

  list(): ParkedEvent[] {
    const list: ParkedEvent[] = [];
    for (const [key, bytes] of this.journal.range(KEYS)) {
      const { node, ticket } = positionIn(key);
      const { path, ...stored } = decode(bytes) as StoredParked;
      const context = `${node}${showPath(path)}`;
      list.push({ id: idOf(node, ticket), context, ...stored, bytes: bytes.byteLength });
    }
    return list;
  }

  /** The event with that id, and where it was. */
  find(id: string): { node: string; ticket: Ticket; stored: StoredParked } {
    const at = id.lastIndexOf("/");
    const [node, ticket] = [id.slice(0, at), Number(id.slice(at + 1))];
    const isWellFormed = at > 0 && Number.isSafeInteger(ticket) && ticket > 0;
    const bytes = isWellFormed ? this.journal.get(parkedKey(node, ticket)) : undefined;
    if (bytes !== undefined) return { node, ticket: ticket as Ticket, stored: decode(bytes) as StoredParked };
    throw new HeadwaterError(
      "HW-6033",
      `no event is parked as "${id}". \`headwater events parked list\` shows the parked events.`,
    );
  }

  drop(id: string): Promise<void> {
    const { node, ticket } = this.find(id);
    return new Promise((resolve, reject) => {
      this.journal.append([{ key: parkedKey(node, ticket), value: null }], (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  }
}

/** What the commit of a parked event leaves of it. */
export function parkedWrite({ ticket, time, payload }: NodeEvent): Write {
  const { slot, method, args, origin, record } = payload;
  const stored: StoredParked = {
    path: pathOf(slot),
    method: method.name,
    args,
    startedBy: origin.kind,
    time,
    hostsLost: record?.hostsLost ?? 0,
    why: record?.why ?? "",
  };
  return { key: parkedKey(slot.node, ticket), value: encode(stored) };
}

function positionIn(key: string): { node: string; ticket: number } {
  const [, node = "", ticket = "0"] = key.split("/");
  return { node: decodeURIComponent(node), ticket: Number(ticket) };
}
