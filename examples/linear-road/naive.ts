import { nothingTold, type Outcome, type PastToll, type Report, type Second } from "./records.js";
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

/** The rules word by word: all reports are kept, and every answer is computed from all of them. */
export function naive(seconds: readonly Second[], history: readonly PastToll[]): Outcome {
  const outcome = nothingTold();
  const road = new NaiveRoad();
  for (const { time, reports, balances, expenditures } of seconds) {
    for (const report of reports) road.take(report, outcome);
    for (const { id, vid } of balances) outcome.balances.push({ id, value: road.charged(vid) });
    for (const { id, vid, xway, day } of expenditures) {
      const past = history.filter((each) => each.vid === vid && each.xway === xway && each.day === day);
      outcome.expenditures.push({ id, value: past.reduce((sum, { tolls }) => sum + tolls, 0) });
    }
    road.forget(minuteOf(time) - LAV_MINUTES - 1);
  }
  return outcome;
}

class NaiveRoad {
  #byMinute = new Map<string, Report[]>();
  readonly #trails = new Map<number, Report[]>();
  readonly #charges = new Map<number, number[]>();
  readonly #told = new Map<number, number>();
  readonly #stops = new Map<string, Report[]>();
  readonly #accidents = new Set<string>();

  take(report: Report, { tolls, accidents }: Outcome): void {
    const { time, vid, xway, dir, segment, lane } = report;
    const minute = minuteOf(time);
    const trail = this.#trails.get(vid) ?? [];
    const last = trail.at(-1);
    trail.push(report);
    this.#trails.set(vid, trail);
    listAt(this.#byMinute, key(xway, dir, segment, minute)).push(report);
    this.#noteStop(report, trail.slice(-STOPPED_REPORTS));

    const isTripStart = last === undefined || lane === ENTRANCE;
    if (!isTripStart && last.segment === segment) return;
    if (!isTripStart) listAt(this.#charges, vid).push(this.#told.get(vid) ?? 0);
    this.#told.delete(vid);
    if (lane === EXIT) return;
    const lav = this.#lav(xway, dir, segment, minute);
    const ahead = this.#accidentsAhead(xway, dir, segment, minute - 1);
    const toll = tollOf(lav, this.#cars(xway, dir, segment, minute - 1), ahead.length > 0);
    tolls.push({ vid, time, lav, toll });
    this.#told.set(vid, toll);
    for (const each of ahead) accidents.push({ vid, time, segment: each });
  }

  charged(vid: number): number {
    return (this.#charges.get(vid) ?? []).reduce((sum, each) => sum + each, 0);
  }

  forget(minute: number): void {
    for (const each of this.#byMinute.keys())
      if (Number(each.split("/")[3]) < minute) this.#byMinute.delete(each);
  }

  #noteStop(report: Report, lastFour: readonly Report[]): void {
    const { time, vid, xway, dir, segment, lane, position } = report;
    const isStopped =
      lastFour.length === STOPPED_REPORTS &&
      lastFour.every(
        (each) => key(each.xway, each.dir, each.lane, each.position) === key(xway, dir, lane, position),
      );
    if (!isStopped) return;
    const stops = listAt(this.#stops, key(xway, dir, lane, position));
    const isAccident = stops.some((other) => other.vid !== vid && time - other.time < REPORT_S);
    if (isAccident) this.#accidents.add(key(xway, dir, segment, minuteOf(time)));
    stops.push(report);
  }

  #accidentsAhead(xway: number, dir: 0 | 1, segment: number, minute: number): number[] {
    const ahead = concernedBy(segment, dir === 0 ? 1 : 0);
    return ahead.filter((each) => this.#accidents.has(key(xway, dir, each, minute)));
  }

  #cars(xway: number, dir: number, segment: number, minute: number): number {
    const reports = this.#byMinute.get(key(xway, dir, segment, minute)) ?? [];
    return new Set(reports.map(({ vid }) => vid)).size;
  }

  #lav(xway: number, dir: number, segment: number, minute: number): number {
    const averages: number[] = [];
    for (let m = minute - LAV_MINUTES; m < minute; m++) {
      const reports = this.#byMinute.get(key(xway, dir, segment, m)) ?? [];
      if (reports.length === 0) continue;
      const byVehicle = new Map<number, Report[]>();
      for (const report of reports) listAt(byVehicle, report.vid).push(report);
      const sixfolds = [...byVehicle.values()].map((own) => sixfoldAverage(total(own), own.length));
      averages.push(Math.floor(sixfolds.reduce((a, b) => a + b, 0) / (6 * sixfolds.length)));
    }
    return averages.length === 0 ? 0 : Math.floor(averages.reduce((a, b) => a + b, 0) / averages.length);
  }
}

function total(reports: readonly Report[]): number {
  return reports.reduce((sum, { speed }) => sum + speed, 0);
}

function key(...parts: number[]): string {
  return parts.join("/");
}

function listAt<K, V>(lists: Map<K, V[]>, at: K): V[] {
  const list = lists.get(at) ?? [];
  lists.set(at, list);
  return list;
}
