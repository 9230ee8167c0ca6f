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
