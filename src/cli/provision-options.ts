import { type ProvisionOptions, WITH_STARTER } from "../provision/index.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { Voice } from "./voice.js";

/** How many processes a cluster has: options of `headwater run`. */
export const PROVISION_OPTIONS = {
  "max-processes": {
    value: "N",
    help: "with --cluster: add processes while all are busy, up to so many, and remove them again",
  },
  "min-processes": { value: "N", help: "never fewer processes (1)" },
  provision: {
    value: "local|COMMAND",
    help: "who makes these processes: this machine, or a command: COMMAND add ID, COMMAND remove ID (local)",
  },
} as const;

/** The process that was started by hand has these, and processes that it adds have not. */
const OF_THE_FIRST = ["port", "host", "origins", "static", "admin", "record-load"] as const;
const FLAGS_OF_THE_FIRST = ["dashboard", "metrics"] as const;

/** Was this process added because of the load, on the machine of the head? */
export function isAdded(): boolean {
  return process.env[WITH_STARTER] !== undefined;
}

/** A process that was added on the machine of another has the same arguments, and cannot have the same port. */
export function asAdded(args: Arguments): Arguments {
  if (!isAdded()) return args;
  const values = new Map(args.values);
  const flags = new Set(args.flags);
  for (const option of OF_THE_FIRST) values.delete(option);
  for (const flag of FLAGS_OF_THE_FIRST) flags.delete(flag);
  return { ...args, values, flags };
}

export function provisionOf(
  run: CliCommand,
  { values }: Arguments,
  voice: Pick<Voice, "note">,
): { readonly provision?: ProvisionOptions } {
  const [max, min, by] = ["max-processes", "min-processes", "provision"].map((name) => values.get(name));
  if (max === undefined) {
    if (min === undefined && by === undefined) return {};
    throw misused(
      run,
      "--min-processes and --provision are about processes that are added; they need --max-processes.",
    );
  }
  if (!values.has("cluster"))
    throw misused(run, "--max-processes is about a cluster; it needs --cluster as well.");
  for (const [name, written] of Object.entries({ "max-processes": max, "min-processes": min }))
    if (written !== undefined && !/^[1-9]\d?$/.test(written))
      throw misused(run, `--${name} is a whole number from 1 to 64, not "${written}".`);
  return {
    provision: {
      max: Number(max),
      ...(min === undefined ? {} : { min: Number(min) }),
      ...(by === undefined || by === "local" ? {} : { by: [by] }),
      onDecision: ({ text }) => voice.note(`Processes: ${text}.`),
    },
  };
}
