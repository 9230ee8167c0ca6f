/**
 * How something moves while rows are added to a table, and none is ever taken away: not at all, in one direction, or
 * there and back. For a set of rows, to grow is to be monotone, and for the truth of a condition to come true and stay so.
 */
export type Sign = "still" | "grows" | "shrinks" | "wavers";

/** By the number of a scan; a scan that is not there has no influence. */
export type Signs = ReadonlyMap<number, Sign>;

export const STILL: Signs = new Map();

export function merged(a: Sign, b: Sign): Sign {
  if (a === "still" || a === b) return b;
  return b === "still" ? a : "wavers";
}

export function both(...all: readonly Signs[]): Signs {
  const result = new Map<number, Sign>();
  for (const signs of all)
    for (const [scan, sign] of signs) result.set(scan, merged(result.get(scan) ?? "still", sign));
  return result;
}

export function turned(signs: Signs): Signs {
  const turn = { still: "still", grows: "shrinks", shrinks: "grows", wavers: "wavers" } as const;
  return new Map([...signs].map(([scan, sign]) => [scan, turn[sign]]));
}

/** Nothing can be said about whatever moves. */
export function wavering(...all: readonly Signs[]): Signs {
  return new Map([...both(...all)].filter(([, sign]) => sign !== "still").map(([scan]) => [scan, "wavers"]));
}

export function moving(signs: Signs): number[] {
  return [...signs].filter(([, sign]) => sign !== "still").map(([scan]) => scan);
}
