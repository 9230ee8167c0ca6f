import { type ElasticHosts, policyOf } from "../elastic/elastic-hosts.js";
import type { Policy } from "../elastic/policy.js";
import { HeadwaterError } from "../errors.js";

/** As many processes as the load of a cluster needs (docs/elasticity.md). */
export interface ProvisionOptions
  extends Pick<ElasticHosts, "min" | "max" | "keep" | "policy" | "inARow" | "coolDownMs" | "onDecision"> {
  /**
   * `"local"` (the default): more processes on the machine of the head, each running what it runs. Or a command with its first arguments, which
   * makes and removes processes anywhere.
   */
  readonly by?: "local" | readonly string[];
  /** A process that was added has to join within this time; 60 seconds unless it says otherwise. */
  readonly joinMs?: number;
  /** The command is ended when it takes longer; 60 seconds unless it says otherwise. */
  readonly timeoutMs?: number;
}

export interface CheckedProvision {
  readonly command: readonly string[] | null;
  readonly policy: () => Policy;
  readonly max: number;
  readonly coolDownMs: number;
  readonly joinMs: number;
  readonly timeoutMs: number;
  readonly onDecision: NonNullable<ElasticHosts["onDecision"]>;
}

const PROCESSES_MAX = 64;
const MS_MAX = 3_600_000;
const COOL_DOWN_MS = 30_000;
const PATIENCE_MS = 60_000;
const KNOWN = [
  "min",
  "max",
  "keep",
  "policy",
  "inARow",
  "coolDownMs",
  "onDecision",
  "by",
  "joinMs",
  "timeoutMs",
];

/** The options as they hold; senseless ones are refused. */
export function checkedProvision(given: unknown): CheckedProvision {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw cannot("`provision` is an object such as { max: 4 }");
  const unknown = Object.keys(given).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined)
    throw cannot(`there is no option ${JSON.stringify(unknown)}; there are ${KNOWN.join(", ")}`);
  const options = given as ProvisionOptions;
  const {
    max,
    by = "local",
    coolDownMs = COOL_DOWN_MS,
    joinMs = PATIENCE_MS,
    timeoutMs = PATIENCE_MS,
  } = options;
  if (!(Number.isSafeInteger(max) && max <= PROCESSES_MAX))
    throw cannot(`\`max\` is ${String(max)}, and should be a whole number up to ${PROCESSES_MAX}`);
  for (const [name, ms] of Object.entries({ joinMs, timeoutMs }))
    if (!(ms > 0 && ms <= MS_MAX))
      throw cannot(`\`${name}\` is ${String(ms)}, and should be milliseconds, an hour at most`);
  const { by: _, joinMs: __, timeoutMs: ___, ...elastic } = { ...options, coolDownMs };
  const policy = () => policyOf(elastic);
  try {
    policy();
  } catch (error) {
    throw cannot((error as Error).message.replace(/\.$/, ""));
  }
  return {
    command: commandIn(by),
    policy,
    max,
    coolDownMs,
    joinMs,
    timeoutMs,
    onDecision: options.onDecision ?? (() => {}),
  };
}

function commandIn(by: unknown): readonly string[] | null {
  if (by === "local") return null;
  if (Array.isArray(by) && by.length > 0 && by.every((each) => typeof each === "string" && each !== ""))
    return by as string[];
  throw cannot(
    `\`by\` is ${JSON.stringify(by)}, and should be "local", or a list with a command and its arguments`,
  );
}

function cannot(why: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3152",
    `the processes of the cluster cannot be provisioned like this: ${why}.`,
  );
}
