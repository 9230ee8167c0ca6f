import type { NodeEvent } from "../event/index.js";
import { HostRecord } from "../event/index.js";
import type { HostId } from "../ports/index.js";
import type { RemoteRun } from "./remote-run.js";

/** From here on, an event is run alone. */
const SUSPICION_MAX = 3;
/** A host that says, or lets see, what it was at when it ended counts as much as three that do not. */
const KNOWN_CULPRIT = 3;
/** The longest time for which an event keeps a host to itself is two to the power of this many looks. */
const PASSES_MAX = 12;

interface Held {
  readonly event: NodeEvent;
  readonly again: () => void;
}

interface Claim {
  /** In the order in which they run: those first that were alone least often, then by ticket. */
  readonly suspects: NodeEvent[];
  held: Held[];
  /** Was anything else on this life of the host? */
  isShared: boolean;
  /** How often the host was looked at since the first suspect has it. */
  looks: number;
}

/**
 * Finds out which event ends hosts. A host that was killed from outside, or is out of memory, cannot say what it was at:
 * every event that was on it may be the cause, or none. So nothing is concluded from that. Events that were there when
 * three hosts ended are *suspects*: they run one after the other, alone, on the host that replaces the last one. Only
 * events that are at work on three hosts that run nothing else when these end are given up, or parked.
 *
 * While a host has suspects, it runs only the first of them, and all others wait here; except that, while the first has to
 * wait for earlier events, those with lower tickets are let in, too. If one of them was on the host as well when that
 * ended, nothing is proved, and it is a suspect from then on.
 *
 * One host at a time is kept for suspects: two that wait for each other's would wait for ever.
 *
 * A suspect may take long, and need not be to blame: it keeps others away for a limited time, twice as long each time that
 * the host is lost after that. So an event that ends its host late is found, too, and others wait little at first.
 */
export class Quarantine {
  /** By host. The oldest is in force. */
  readonly #claims = new Map<HostId, Claim>();
  /** On which host. */
  #inForce: HostId | null = null;

  get isActive(): boolean {
    return this.#inForce !== null;
  }

  isOn(host: HostId): boolean {
    return this.#inForce === host;
  }

  get #claim(): Claim | undefined {
    return this.#inForce === null ? undefined : this.#claims.get(this.#inForce);
  }

  /** May the event run on that host now? If not, `again` is called when it may. */
  admits(host: HostId, event: NodeEvent, again: () => void): boolean {
    const claim = this.#claim;
    if (claim === undefined || host !== this.#inForce) return true;
    if (isFirst(claim, event)) return true;
    const isAdmitted = mayComeBefore(claim, event);
    if (isAdmitted) claim.isShared = true;
    else claim.held.push({ event, again });
    return isAdmitted;
  }

  /** The event was on a host when that ended. `isKnown`: the host is known to have been at it. */
  suspect(host: HostId, event: NodeEvent, why: string, isKnown: boolean): void {
    event.payload.record ??= new HostRecord();
    const { record } = event.payload;
    record.hostsLost += 1;
    record.suspicion += isKnown ? KNOWN_CULPRIT : 1;
    record.why = why;
    let claim = this.#claims.get(host);
    const wasAlone = claim !== undefined && isFirst(claim, event) && !claim.isShared;
    if (wasAlone || (isKnown && record.hostsLost > 1)) record.lostAlone += 1;
    if (claim === undefined && record.suspicion < SUSPICION_MAX) return;
    claim ??= { suspects: [], held: [], isShared: true, looks: 0 };
    this.#claims.set(host, claim);
    this.#inForce ??= host;
    if (!claim.suspects.includes(event)) claim.suspects.push(event);
    claim.suspects.sort(inTurn);
  }

  /** Another host takes the place of one that has ended. All suspects are known. */
  replaced(host: HostId): void {
    const claim = this.#claim;
    if (claim === undefined || host !== this.#inForce) return;
    claim.isShared = false;
    claim.looks = 0;
    this.#admitHeld(claim); // with new suspects, another may be the first
  }

  /** The host is there, and its event loop goes round. */
  look(host: HostId): void {
    const claim = this.#claim;
    const first = claim?.suspects[0];
    if (claim === undefined || first === undefined || host !== this.#inForce || isAboutToStart(first)) return;
    claim.looks += 1;
    const { record } = first.payload;
    if (record === null || claim.looks <= 2 ** (1 + Math.min(PASSES_MAX, record.passes))) return;
    record.passes += 1;
    this.over(first);
  }

  /** A suspect has to wait for earlier events: these may be among the held ones. */
  waits(event: NodeEvent): void {
    const claim = this.#claim;
    if (claim !== undefined && isFirst(claim, event)) this.#admitHeld(claim);
  }

  /** The event has ended, or had its time. */
  over(event: NodeEvent): void {
    for (const [host, claim] of this.#claims) {
      const at = claim.suspects.indexOf(event);
      if (at < 0) continue;
      claim.suspects.splice(at, 1);
      if (at === 0) this.#next(host, claim);
    }
  }

  /** The host does not exist any more. */
  forget(host: HostId): void {
    const claim = this.#claims.get(host);
    if (claim === undefined) return;
    claim.suspects.length = 0;
    this.#next(host, claim);
  }

  #next(host: HostId, claim: Claim): void {
    claim.looks = 0;
    claim.isShared = true; // the one before may have left something behind there
    if (claim.suspects.length === 0) this.#claims.delete(host);
    if (!this.#claims.has(this.#inForce ?? host)) this.#inForce = [...this.#claims.keys()][0] ?? null;
    this.#admitHeld(claim);
  }

  #admitHeld(claim: Claim): void {
    const { held } = claim;
    claim.held = [];
    for (const each of held) {
      const isFree = claim.suspects.length === 0 || isFirst(claim, each.event);
      if (isFree || mayComeBefore(claim, each.event)) each.again();
      else claim.held.push(each);
    }
  }
}

function isFirst({ suspects }: Claim, event: NodeEvent): boolean {
  return suspects[0] === event;
}

/** Its turn has come, and it was not sent to its host yet. */
function isAboutToStart({ status, attempt, payload }: NodeEvent): boolean {
  return status === "running" && (payload.execution as RemoteRun | null)?.attempt !== attempt;
}

/** Does the first suspect have to wait for earlier events, of which this is one? */
function mayComeBefore({ suspects: [first] }: Claim, event: NodeEvent): boolean {
  if (first === undefined || first.payload.slot.node !== event.payload.slot.node) return false;
  if (event.ticket > first.ticket) return false;
  const run = first.payload.execution as RemoteRun | null;
  const isWaitingBelow = run !== null && run.attempt === first.attempt && (run.waiting?.size ?? 0) > 0;
  return first.status !== "running" || isWaitingBelow;
}

function inTurn(a: NodeEvent, b: NodeEvent): number {
  const passes = (a.payload.record?.passes ?? 0) - (b.payload.record?.passes ?? 0);
  if (passes !== 0) return passes;
  const [one, other] = [a.payload.slot.node, b.payload.slot.node];
  if (one === other) return a.ticket - b.ticket;
  return one < other ? -1 : 1;
}
