import type { BalanceRequest, ExpenditureRequest, PastToll, Report, Second } from "./records.js";

/**
 * Traffic of one or more expressways, the same for the same seed. Vehicles come and go at random segments; within some miles there is
 * a jam, so that tolls are due; some vehicles stop, alone or at a place where others stop, for as long as an accident takes or shorter.
 */
export interface TrafficOptions {
  readonly seed: number;
  readonly xways: number;
  readonly minutes: number;
  /** How many vehicles enter an expressway in a minute. */
  readonly perMinute: number;
}

const FEET = 5280;
const SEGMENTS = 100;
const REPORT_S = 30;
/** Where vehicles are slow, and most of them drive. */
const JAM = { from: 40, to: 48 };
/** Places at which vehicles stop. */
const SHOULDERS = [38.2, 43.5, 47.9, 55.1];

export class Traffic {
  readonly #options: TrafficOptions;
  readonly #random: () => number;
  #lastId = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#random = randomOf(options.seed);
  }

  /** The expressways' seconds, in order. */
  seconds(): Second[] {
    const { xways, minutes, perMinute } = this.#options;
    const bySecond = Array.from({ length: minutes * 60 }, (): Report[] => []);
    let vid = 0;
    for (let xway = 0; xway < xways; xway++)
      for (let i = 0; i < perMinute * minutes; i++) {
        const start = this.#int(minutes * 60);
        vid++;
        const end = this.#trip(vid, xway, start, bySecond);
        if (this.#random() < 0.3) this.#trip(vid, xway, end + REPORT_S + this.#int(120), bySecond);
      }
    return bySecond.map((reports, time) => ({ time, reports, ...this.#requests(time, reports) }));
  }

  /** Tolls of the days before, for vehicles up to `vehicles`. */
  history(vehicles: number): PastToll[] {
    return Array.from({ length: 2 * vehicles }, (_, i) => ({
      vid: 1 + (i % vehicles),
      day: dayOf(i),
      xway: this.#int(this.#options.xways),
      tolls: this.#int(90),
    }));
  }

  /** One drive from an entrance to an exit, a report each half minute. Returns the time of the last. */
  #trip(vid: number, xway: number, start: number, bySecond: readonly Report[][]): number {
    const dir = this.#random() < 0.5 ? 0 : 1;
    const isJammed = this.#random() < 0.8;
    const from = isJammed ? JAM.from - this.#int(4) : this.#int(SEGMENTS - 12);
    const miles = 3 + this.#int(5) + this.#random();
    const stop = this.#random() < 0.06 ? { mile: this.#shoulder(), reports: 2 + this.#int(9) } : null;
    let along = from + this.#random();
    const end = Math.min(along + miles, SEGMENTS - 0.01);
    let stopped = 0;
    let time = start;
    for (let isFirst = true; time < bySecond.length; time += REPORT_S, isFirst = false) {
      const speed = this.#speedAt(along);
      const next = along + (speed * REPORT_S) / 3600;
      const isStopped = stop !== null && along >= stop.mile && stopped < stop.reports;
      if (isStopped) stopped++;
      const mile = isStopped ? stop.mile : Math.min(along, end);
      const isLast = !isStopped && along >= end;
      const position = Math.floor((dir === 0 ? mile : SEGMENTS - 0.001 - mile) * FEET);
      bySecond[time]?.push({
        time,
        vid,
        speed: isStopped ? 0 : speed,
        xway,
        lane: isFirst ? 0 : isLast ? 4 : isStopped ? 1 : 1 + this.#int(3),
        dir,
        segment: Math.floor(position / FEET),
        position,
      });
      if (isLast) break;
      if (!isStopped) along = next;
    }
    return time;
  }

  #speedAt(mile: number): number {
    return mile >= JAM.from && mile < JAM.to ? 10 + this.#int(40) : 45 + this.#int(50);
  }

  #shoulder(): number {
    return SHOULDERS[this.#int(SHOULDERS.length)] ?? 0;
  }

  #requests(time: number, reports: readonly Report[]): Pick<Second, "balances" | "expenditures"> {
    const balances: BalanceRequest[] = [];
    const expenditures: ExpenditureRequest[] = [];
    for (const { vid, xway } of reports) {
      const dice = this.#random();
      if (dice < 0.02) balances.push({ time, vid, id: ++this.#lastId });
      else if (dice < 0.03)
        expenditures.push({ time, vid, id: ++this.#lastId, xway, day: dayOf(vid - this.#int(2)) });
    }
    return { balances, expenditures };
  }

  #int(below: number): number {
    return Math.floor(this.#random() * below);
  }
}

/** One of the 69 days before. */
function dayOf(number: number): number {
  return 1 + (number % 69);
}

/** A small generator of numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
