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
  /** A host that has not loaded the program after so long is ended and replaced. */
  readonly startMs: number;
}

const EVENT_MS = 10_000;
const HOST_MS = 30_000;
/** Programs may take long to load, above all many at once on a busy machine. */
const [START_MS_MIN, STARTS_PER_HOST_MS] = [30_000, 10];
const [LOOK_MS_MIN, LOOK_MS_MAX] = [10, 1000];

export function patienceOf(
  eventMs: number = EVENT_MS,
  eventMsMax: number | null = null,
  hostMs: number = HOST_MS,
  startMs: number = Math.max(START_MS_MIN, STARTS_PER_HOST_MS * hostMs),
): Patience {
  const shortest = Math.min(eventMs, eventMsMax ?? eventMs, hostMs, startMs);
  const lookMs = Math.max(LOOK_MS_MIN, Math.min(LOOK_MS_MAX, Math.floor(shortest / 4)));
  return { lookMs, eventMs, eventMsMax, hostMs, startMs };
}
