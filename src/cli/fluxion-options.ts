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
  profile: { value: "FILE", help: "with --fluxions: write what each stage costs to this file; none moves" },
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
    const isProfile =
      typeof profile === "object" &&
      profile !== null &&
      Object.values(profile).every((each) => typeof each === "number");
    if (!isProfile) throw new Error("it is not an object of numbers");
    return profile as Profile;
  } catch (cause) {
    if (isAbsent(cause)) throw absent(`There is no profile ${file}.`, command);
    const why = (cause instanceof Error ? cause.message : String(cause)).replace(/\s+/g, " ");
    const what = `${file} is not a profile: ${why}. Make one with \`headwater run --fluxions --profile\`.`;
    throw new HeadwaterError("HW-2002", what, { cause });
  }
}
