import type { Figures } from "./rounds.js";

interface Goal {
  readonly what: string;
  readonly met: boolean;
  readonly figure: string;
}

const RATIO_TO_QUEUE_MIN = 0.3;
const COST_FACTOR_MAX = 1.5;

/** What Headwater promises of this bench, checked where it matters most: many in flight, no work to hide behind. */
export function goals(all: readonly Figures[]): Goal[] {
  const inFlight = Math.max(...all.map((figures) => figures.inFlight));
  const at = (name: string) =>
    all.find((figures) => figures.case.name === name && figures.work === 0 && figures.inFlight === inFlight);
  const own = at("headwater");
  if (own === undefined) return [];
  const found: Goal[] = [
    {
      what: `headwater reaches ${RATIO_TO_QUEUE_MIN} of ${own.case.baseline}`,
      met: own.ratio >= RATIO_TO_QUEUE_MIN,
      figure: own.ratio.toFixed(2),
    },
  ];
  for (const library of ["nact", "comedy"]) {
    const other = at(library);
    if (other === undefined) continue;
    const lead = own.ratio / other.ratio; // both are ratios to the same neighbour in time, so steadier than rates
    found.push({
      what: `headwater is ahead of ${library}`,
      met: lead > 1,
      figure: `${lead.toFixed(2)} times`,
    });
  }
  for (const name of ["headwater-100000-contexts", "headwater-beside-10000-unfinished"]) {
    const other = at(name);
    if (other === undefined) continue;
    const cost = 1 / other.ratio;
    found.push({
      what: `${name} costs at most ${COST_FACTOR_MAX} times as much`,
      met: cost <= COST_FACTOR_MAX,
      figure: `${cost.toFixed(2)} times`,
    });
  }
  return found;
}

const RATIO_TO_APPEND_MIN = 0.6;
const SYNCS_MAX = 1.25;
const PER_SECOND_WS_MIN = 40_000;

/** The same for the bench with a journal. */
export function durableGoals(all: readonly Figures[]): Goal[] {
  const at = (name: string, inFlight: number) =>
    all.find((figures) => figures.case.name === name && figures.inFlight === inFlight);
  const most = Math.max(...all.map((figures) => figures.inFlight));
  const [own, one, sync, socket] = [
    at("headwater-durable", most),
    at("headwater-durable", 1),
    at("append-fdatasync", 1),
    at("headwater-durable-ws", most),
  ];
  if (own === undefined || one === undefined || sync === undefined || socket === undefined) return [];
  const syncs = one.p50Ms / sync.p50Ms;
  return [
    {
      what: `headwater-durable reaches ${RATIO_TO_APPEND_MIN} of append-fdatasync`,
      met: own.ratio >= RATIO_TO_APPEND_MIN,
      figure: own.ratio.toFixed(2),
    },
    {
      what: `a single request takes at most as long as ${SYNCS_MAX} appends with a sync`,
      met: syncs <= SYNCS_MAX,
      figure: syncs.toFixed(2),
    },
    {
      what: `over a WebSocket at least ${PER_SECOND_WS_MIN.toLocaleString("en")} events per second`,
      met: socket.eventsPerSecond >= PER_SECOND_WS_MIN,
      figure: `${Math.round(socket.eventsPerSecond).toLocaleString("en")}, ${socket.ratio.toFixed(2)} of the same in one process`,
    },
  ];
}

const RATIO_TO_MESSAGES_MIN = 0.25;
const PER_SECOND_HOSTS_MIN = 300_000;
const SPEEDUP_SHARE_MIN = 0.93;
const ALONE_MS_MAX = 1;
/** By the median times of one event, with the event's own round trip taken off. */
const CALL_ROUND_TRIPS_MAX = 2.5;

/** The same for the bench with worker hosts. */
export function hostGoals(all: readonly Figures[]): Goal[] {
  const at = (name: string, inFlight?: number) =>
    all.find((each) => each.case.name === name && (inFlight === undefined || each.inFlight === inFlight));
  const [messages, far, own, alone, bare, speedup] = [
    at("batched-messages", 1),
    at("headwater-call-far", 1),
    at("headwater-hosts", 1024),
    at("headwater-hosts", 1),
    at("bare-threads-work-2"),
    at("headwater-hosts-work-2"),
  ];
  if (own === undefined || alone === undefined || bare === undefined || speedup === undefined) return [];
  const call =
    far === undefined || messages === undefined ? Number.NaN : (far.p50Ms - alone.p50Ms) / messages.p50Ms;
  const goal = Math.max(PER_SECOND_HOSTS_MIN, RATIO_TO_MESSAGES_MIN * own.baselineEventsPerSecond);
  const share = speedup.ratio / bare.ratio;
  return [
    {
      what: `headwater-hosts reaches ${PER_SECOND_HOSTS_MIN.toLocaleString("en")} events per second and ${RATIO_TO_MESSAGES_MIN} of batched-messages`,
      met: own.eventsPerSecond >= goal,
      figure: `${Math.round(own.eventsPerSecond).toLocaleString("en")}, ${own.ratio.toFixed(2)}`,
    },
    {
      what: `an event alone takes less than ${ALONE_MS_MAX} ms`,
      met: alone.p50Ms < ALONE_MS_MAX,
      figure: `${alone.p50Ms.toFixed(3)} ms`,
    },
    {
      what: `a call to another host takes at most ${CALL_ROUND_TRIPS_MAX} round trips of a message`,
      met: call <= CALL_ROUND_TRIPS_MAX,
      figure: call.toFixed(2),
    },
    {
      what: `two hosts instead of one gain ${SPEEDUP_SHARE_MIN} of what two bare threads gain`,
      met: share >= SPEEDUP_SHARE_MIN,
      figure: `${share.toFixed(2)} (${speedup.ratio.toFixed(2)} against ${bare.ratio.toFixed(2)} times)`,
    },
  ];
}

const TRANSFERS_PER_SECOND_MIN = 400_000;
const TRANSFERS_PER_SECOND_DURABLE_MIN = 150_000;

/** The same for the bench of transfers. */
export function transferGoals(all: readonly Figures[]): Goal[] {
  const least = {
    "headwater-transfer": TRANSFERS_PER_SECOND_MIN,
    "headwater-transfer-durable": TRANSFERS_PER_SECOND_DURABLE_MIN,
  };
  return Object.entries(least).flatMap(([name, perSecond]) => {
    const own = all.filter((each) => each.case.name === name).map((each) => each.eventsPerSecond);
    const most = Math.max(...own);
    return {
      what: `${name} reaches ${perSecond.toLocaleString("en")} transfers per second`,
      met: most >= perSecond,
      figure: Math.round(most).toLocaleString("en"),
    };
  });
}
