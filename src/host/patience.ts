/** How long is too long. */
export interface Patience {
  /** How often to look. */
  readonly lookMs: number;
  /** An event that runs longer is reported. */
  readonly eventMs: number;
  /** An event that runs longer is given up, unless it is null. */
  readonly eventMsMax: number | null;
  /** A host whose event loop does not answer for so long is ended and replaced. */
  readonly hostMs: number;
}

const EVENT_MS = 10_000;
const HOST_MS = 30_000;
const [LOOK_MS_MIN, LOOK_MS_MAX] = [10, 1000];

export function patienceOf(
  eventMs: number = EVENT_MS,
  eventMsMax: number | null = null,
  hostMs: number = HOST_MS,
): Patience {
  const shortest = Math.min(eventMs, eventMsMax ?? eventMs, hostMs);
  const lookMs = Math.max(LOOK_MS_MIN, Math.min(LOOK_MS_MAX, Math.floor(shortest / 4)));
  return { lookMs, eventMs, eventMsMax, hostMs };
}
