/**
 * What the benchmark feeds in and expects back (Arasu and others, "Linear Road: A Stream Data Management Benchmark", 2004).
 * Expressways have 100 segments of a mile and two directions. Every vehicle reports its position twice a minute.
 */

export interface Report {
  /** Seconds since the start. */
  readonly time: number;
  readonly vid: number;
  /** Miles per hour. */
  readonly speed: number;
  readonly xway: number;
  /** 0 is the entrance, 1 to 3 are the road, 4 is the exit. */
  readonly lane: number;
  /** 0: towards segment 99; 1: towards segment 0. */
  readonly dir: 0 | 1;
  readonly segment: number;
  /** In feet from the west end. */
  readonly position: number;
}

export interface BalanceRequest {
  readonly time: number;
  readonly vid: number;
  readonly id: number;
}

/** What a vehicle paid on one expressway on one of the 69 days before. */
export interface ExpenditureRequest {
  readonly time: number;
  readonly vid: number;
  readonly id: number;
  readonly xway: number;
  readonly day: number;
}

/** What happens in one second: reports first, then requests. */
export interface Second {
  readonly time: number;
  readonly reports: readonly Report[];
  readonly balances: readonly BalanceRequest[];
  readonly expenditures: readonly ExpenditureRequest[];
}

export interface PastToll {
  readonly vid: number;
  readonly day: number;
  readonly xway: number;
  readonly tolls: number;
}

/** To a vehicle that enters a segment: the average speed there, and what it pays when it goes on to the next. */
export interface TollNotification {
  readonly vid: number;
  readonly time: number;
  readonly lav: number;
  readonly toll: number;
}

/** To a vehicle that enters a segment: there is an accident at most four segments ahead. */
export interface AccidentNotification {
  readonly vid: number;
  readonly time: number;
  readonly segment: number;
}

export interface Answer {
  readonly id: number;
  readonly value: number;
}

export interface Outcome {
  readonly tolls: TollNotification[];
  readonly accidents: AccidentNotification[];
  readonly balances: Answer[];
  readonly expenditures: Answer[];
}

/** The same outcome in one order, for comparison. */
export function sorted({ tolls, accidents, balances, expenditures }: Outcome): Outcome {
  return {
    tolls: tolls.toSorted((a, b) => a.time - b.time || a.vid - b.vid),
    accidents: accidents.toSorted((a, b) => a.time - b.time || a.vid - b.vid || a.segment - b.segment),
    balances: balances.toSorted((a, b) => a.id - b.id),
    expenditures: expenditures.toSorted((a, b) => a.id - b.id),
  };
}

export function nothingTold(): Outcome {
  return { tolls: [], accidents: [], balances: [], expenditures: [] };
}
