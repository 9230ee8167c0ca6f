import { readFileSync } from "node:fs";
import { HeadwaterError } from "../errors.js";
import type { Profile } from "../fluxion/profile.js";
import { MOVING } from "../fluxion/runtime/settings.js";
import { type Arguments, absent, isAbsent, misused } from "./arguments.js";
import type { CliCommand, Option } from "./command.js";

/** What `headwater run` takes besides when it runs a program that was not written for Headwater. */
export const FLUXION_OPTIONS: Readonly<Record<string, Option>> = {
  fluxions: { help: "run any Node program, its heavy stages in worker threads; `-- ARGS` are its own" },
  threads: { value: "N", help: "with --fluxions: worker threads (as many as there are cores)" },
  move: { value: MOVING.join("|"), help: "with --fluxions: which stages go to workers (auto)" },
  profile: { value: "FILE", help: "with --fluxions: write where the time goes to this file; nothing moves" },
  profiled: { value: "FILE", help: "with --fluxions: move what such a file says is worth it" },
  packages: { value: "A,B", help: "with --fluxions: packages to be compiled along with the program" },
  "stage-timeout": { value: "MS", help: "with --fluxions: end a worker whose stage takes longer (never)" },
  stats: { value: "FILE", help: "with --fluxions: write what became of each stage to this file, at the end" },
};

/** Without --fluxions, they mean nothing. */
export function refuseFluxionOptions(command: CliCommand, { values, rest }: Arguments): void {
  const stray = Object.keys(FLUXION_OPTIONS).find((each) => values.has(each));
  if (stray !== undefined) throw misused(command, `--${stray} is about stages; it needs --fluxions as well.`);
  if (rest[0] !== undefined) throw misused(command, `"${rest[0]}" is one word too many.`);
}

/** What an earlier run with --profile has written. */
export function profileOf(file: string, command: CliCommand): Profile {
  try {
    const profile: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isProfile(profile)) throw new Error("its `stages` are not an object of numbers");
    return profile;
  } catch (cause) {
    if (isAbsent(cause)) throw absent(`There is no profile ${file}.`, command);
    const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, " ");
    const what = `${file} is not a profile: ${why}. Make one with \`headwater run --fluxions --profile\`.`;
    throw new HeadwaterError("HW-2002", what, { cause });
  }
}

function isProfile(value: unknown): value is Profile {
  const stages = typeof value === "object" && value !== null && "stages" in value ? value.stages : null;
  return (
    typeof stages === "object" &&
    stages !== null &&
    Object.values(stages).every((each) => typeof each === "number") &&
    (!("time" in (value as object)) || isTime((value as { time: unknown }).time))
  );
}

function isTime(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("totalMs" in value) || !("chains" in value))
    return false;
  const { totalMs, chains } = value;
  return typeof totalMs === "number" && Array.isArray(chains) && chains.every(isChain);
}

function isChain(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("functions" in value) || !("ms" in value))
    return false;
  const { functions, ms } = value;
  return (
    typeof ms === "number" && Array.isArray(functions) && functions.every((each) => typeof each === "string")
  );
}
