import { Context, expose, type ProgramIo, type Ref, readonly, type Service, tracked } from "headwater";
import {
  type AccidentNotification,
  nothingTold,
  type Outcome,
  type PastToll,
  type Report,
  type Second,
  type TollNotification,
} from "./records.js";
import {
  concernedBy,
  ENTRANCE,
  EXIT,
  LAV_MINUTES,
  minuteOf,
  REPORT_S,
  STOPPED_REPORTS,
  sixfoldAverage,
  tollOf,
} from "./rules.js";
import { Traffic } from "./traffic.js";

/**
 * The road as contexts. A vehicle knows its trip and its account, a segment its last five minutes and the accidents ahead. A report is one
 * event through a vehicle and a segment, so what a vehicle is told and what it is charged cannot disagree.
 */

export class Vehicle extends Context<number> {
  segment = -1;
  /** Where the last report came from, and how many in a row. */
  place = "";
  sameReports = 0;
  /** The toll that it was told last. */
  told = 0;
  charged = 0;
  /** What it paid in the days before, by day and expressway. */
  past: Record<string, number> = {};

  /** Returns whether it is stopped, and whether it enters a segment in which it stays. */
  report({ segment, position, lane, xway, dir }: Report) {
    const place = `${xway}/${dir}/${lane}/${position}`;
    this.sameReports = place === this.place ? this.sameReports + 1 : 1;
    this.place = place;
    const entersSegment = lane === ENTRANCE || segment !== this.segment;
    this.segment = segment;
    if (entersSegment) {
      if (lane !== ENTRANCE) this.charged += this.told;
      this.told = 0;
    }
    return { isStopped: this.sameReports >= STOPPED_REPORTS, isTold: entersSegment && lane !== EXIT };
  }

  tell(toll: number) {
    this.told = toll;
  }

  remember(day: number, xway: number, tolls: number) {
    this.past[`${day}/${xway}`] = tolls;
  }

  @readonly balance() {
    return this.charged;
  }

  @readonly paid(day: number, xway: number) {
    return this.past[`${day}/${xway}`] ?? 0;
  }
}

interface MinuteAverage {
  readonly minute: number;
  readonly speed: number;
  readonly cars: number;
}

/** One mile in one direction. */
export class Segment extends Context<string> {
  minute = -1;
  /** The speeds that vehicles reported in this minute: their sum and number. */
  speeds = tracked.map<number, readonly [sum: number, reports: number]>();
  averages: MinuteAverage[] = [];
  /** Reports of stopped vehicles that may still be where they were. */
  stops: { readonly place: string; readonly vid: number; readonly time: number }[] = [];
  /** Accidents that concern this segment. */
  accidents: { readonly segment: number; readonly minute: number }[] = [];

  /** Returns what a vehicle that enters is told, and whether the report is one of an accident. */
  report({ time, vid, speed, lane, position }: Report, isStopped: boolean) {
    this.#begin(minuteOf(time));
    const [sum, reports] = this.speeds.get(vid) ?? [0, 0];
    this.speeds.set(vid, [sum + speed, reports + 1]);
    const isAccident = isStopped && this.#stop(`${lane}/${position}`, vid, time);
    return { isAccident, ...this.#offer() };
  }

  concern(segment: number, minute: number) {
    if (this.accidents.some((each) => each.segment === segment && each.minute === minute)) return;
    const recent = this.accidents.filter((each) => each.minute >= minute - 1);
    this.accidents = [...recent, { segment, minute }];
  }

  #begin(minute: number): void {
    if (minute === this.minute) return;
    if (this.speeds.size > 0) {
      let sixfolds = 0;
      for (const [sum, reports] of this.speeds.values()) sixfolds += sixfoldAverage(sum, reports);
      const cars = this.speeds.size;
      this.averages.push({ minute: this.minute, speed: Math.floor(sixfolds / (6 * cars)), cars });
      this.speeds.clear();
    }
    this.averages = this.averages.filter((each) => each.minute >= minute - LAV_MINUTES);
    this.minute = minute;
  }

  /** Whether another vehicle is stopped at the same place. */
  #stop(place: string, vid: number, time: number): boolean {
    const stopped = this.stops.filter((each) => time - each.time < REPORT_S);
    this.stops = [...stopped, { place, vid, time }];
    return stopped.some((each) => each.place === place && each.vid !== vid);
  }

  #offer(): { lav: number; toll: number; ahead: number[] } {
    const { averages, minute } = this;
    const total = averages.reduce((sum, { speed }) => sum + speed, 0);
    const lav = averages.length === 0 ? 0 : Math.floor(total / averages.length);
    const cars = averages.find((each) => each.minute === minute - 1)?.cars ?? 0;
    const ahead = this.accidents.filter((each) => each.minute === minute - 1).map(({ segment }) => segment);
    return { lav, toll: tollOf(lav, cars, ahead.length > 0), ahead };
  }
}

export class Expressway extends Context<number> {
  segments = this.children(Segment);

  async report(report: Report, isStopped: boolean) {
    const { time, dir, segment } = report;
    const { isAccident, ...offer } = await this.segments(`${dir}/${segment}`).report(report, isStopped);
    if (isAccident)
      for (const each of concernedBy(segment, dir))
        await this.segments(`${dir}/${each}`).concern(segment, minuteOf(time));
    return offer;
  }
}

/** What the vehicle is told of its report. */
interface Told {
  readonly toll: TollNotification | null;
  readonly accidents: readonly AccidentNotification[];
}

export default class LinearRoad extends Context {
  vehicles = this.children(Vehicle);
  xways = this.children(Expressway);

  async report(report: Report): Promise<Told> {
    const { time, vid, xway } = report;
    const vehicle = this.vehicles(vid);
    const { isStopped, isTold } = await vehicle.report(report);
    const { lav, toll, ahead } = await this.xways(xway).report(report, isStopped);
    if (!isTold) return { toll: null, accidents: [] };
    if (toll > 0) await vehicle.tell(toll);
    return { toll: { vid, time, lav, toll }, accidents: ahead.map((segment) => ({ vid, time, segment })) };
  }

  async remember(past: readonly PastToll[]) {
    for (const { vid, day, xway, tolls } of past) await this.vehicles(vid).remember(day, xway, tolls);
  }

  @readonly async balance(vid: number) {
    return await this.vehicles(vid).balance();
  }

  @readonly async expenditure(vid: number, day: number, xway: number) {
    return await this.vehicles(vid).paid(day, xway);
  }
}

/** Sends one second to the road; reports are sent one behind the other without waiting for answers. */
export async function drive(road: Ref<LinearRoad>, second: Second, outcome: Outcome): Promise<void> {
  for (const { toll, accidents } of await Promise.all(second.reports.map((report) => road.report(report)))) {
    if (toll !== null) outcome.tolls.push(toll);
    outcome.accidents.push(...accidents);
  }
  const balances = second.balances.map(async ({ id, vid }) => ({ id, value: await road.balance(vid) }));
  const expenditures = second.expenditures.map(async ({ id, vid, day, xway }) => ({
    ...{ id, value: await road.expenditure(vid, day, xway) },
  }));
  outcome.balances.push(...(await Promise.all(balances)));
  outcome.expenditures.push(...(await Promise.all(expenditures)));
}

/** What callers may ask for with `headwater run examples/linear-road/contexts --port 8080`. */
export const api = expose(LinearRoad, {
  balance: (road, vid: number) => road.balance(vid),
});

/** Ten minutes of traffic on one expressway. */
export async function main({ root: road }: Service<LinearRoad>, io: ProgramIo) {
  const seconds = new Traffic({ seed: 1, xways: 1, minutes: 10, perMinute: 300 }).seconds();
  const outcome = nothingTold();
  for (const second of seconds) {
    await drive(road, second, outcome);
    if (second.time % 60 === 59)
      io.print(
        `minute ${minuteOf(second.time)}: ${outcome.tolls.length} vehicles told a toll, ${outcome.accidents.length} warned of an accident`,
      );
  }
}
