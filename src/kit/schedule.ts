import { HeadwaterError } from "../errors.js";

/** What decides a run: which acts there are, and what happens to them. */
export interface Schedule {
  /** What the acts draw from. */
  readonly seed: number;
  /** What everything else draws from: order, faults, time. */
  readonly luck: number;
  readonly crashes: boolean;
  readonly hosts: boolean;
  /** Does the first crash end the run? */
  readonly isCut: boolean;
  /** The numbers of the acts, in order. */
  readonly acts: readonly number[];
}

/** A schedule as one word: `Shop:17.17.ch.0-29`. */
export function shown(program: string, { seed, luck, crashes, hosts, isCut, acts }: Schedule): string {
  const flags = `${crashes ? "c" : ""}${hosts ? "h" : ""}${isCut ? "k" : ""}` || "-";
  return `${program}:${seed}.${luck}.${flags}.${ranges(acts)}`;
}

/** The schedule that such a word names; null if it is one of another program. */
export function read(program: string, text: string): Schedule | null {
  const [, name, seed, luck, flags, acts] = /^(.+):(\d+)\.(\d+)\.([chk]*|-)\.([\d,-]*)$/.exec(text) ?? [];
  if (name === undefined || flags === undefined || acts === undefined) {
    throw new HeadwaterError(
      "HW-8004",
      `${JSON.stringify(text)} names no schedule. Copy the line that a failing simulation printed: ` +
        "`HEADWATER_REPLAY=Shop:17.17.ch.0-29`.",
    );
  }
  if (name !== program) return null;
  return {
    seed: Number(seed),
    luck: Number(luck),
    crashes: flags.includes("c"),
    hosts: flags.includes("h"),
    isCut: flags.includes("k"),
    acts: acts.split(",").filter(Boolean).flatMap(rangeOf),
  };
}

const ACTS_MAX = 100_000;

function rangeOf(text: string): number[] {
  const [from = 0, to = from] = text.split("-").map(Number);
  return Array.from({ length: Math.min(Math.max(0, to - from + 1), ACTS_MAX) }, (_, index) => from + index);
}

function ranges(acts: readonly number[]): string {
  const parts: [from: number, to: number][] = [];
  for (const act of acts) {
    const last = parts.at(-1);
    if (last !== undefined && last[1] === act - 1) last[1] = act;
    else parts.push([act, act]);
  }
  return parts.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(",");
}
