/**
 * The rules of the road, with whole numbers throughout, so that every implementation can give the same answers to the last digit.
 *
 * - A trip begins with a report from an entrance (lane 0) and ends with one from an exit (lane 4). A vehicle **enters a segment** when a trip begins
 *   or its segment is not that of its last report.
 * - The **average of a minute** in a segment is that of the vehicles that reported there, each with the average of its reports. The **latest
 *   average velocity** (LAV) of minute m is the average of those of m-5 to m-1 in which there were reports. Both are rounded down.
 * - A vehicle **is stopped** from its fourth report in a row from one position and lane until it reports another. An **accident** of
 *   a minute is a report of a stopped vehicle at a place where another one is stopped. It concerns its segment and the four before it.
 * - The **toll** of a segment in minute m is 2 * (cars - 50)^2, if its LAV is below 40 and more than 50 cars reported there in minute
 *   m-1, in which no accident concerned it. Otherwise it is 0.
 * - A vehicle that enters a segment, but for its exit, is told LAV and toll, and of each segment with an accident of minute m-1 that
 *   concerns its own. It is charged the toll that it was told last when it enters the next segment of its trip.
 */

export const MINUTE_S = 60;
export const LAV_MINUTES = 5;
/** A stopped vehicle reports the same place this often or more. */
export const STOPPED_REPORTS = 4;
/** A vehicle reports again after this time; until then it is where it was. */
export const REPORT_S = 30;
/** An accident concerns its segment and the ones before it, so many in all. */
export const CONCERNED_SEGMENTS = 5;
export const ENTRANCE = 0;
export const EXIT = 4;
export const LAST_SEGMENT = 99;

export function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_S);
}

/** Vehicles report at most three times a minute, so six times their average is a whole number. */
export function sixfoldAverage(sum: number, reports: number): number {
  return (sum * 6) / reports;
}

export function tollOf(lav: number, cars: number, hasAccident: boolean): number {
  return lav < 40 && cars > 50 && !hasAccident ? 2 * (cars - 50) ** 2 : 0;
}

/** The segments that an accident concerns: its own, and four from which vehicles drive towards it. */
export function concernedBy(segment: number, dir: 0 | 1): number[] {
  const all = Array.from({ length: CONCERNED_SEGMENTS }, (_, i) => (dir === 0 ? segment - i : segment + i));
  return all.filter((each) => each >= 0 && each <= LAST_SEGMENT);
}
