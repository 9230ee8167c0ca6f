import { availableParallelism } from "node:os";
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { type ElasticHosts, policyOf } from "../elastic/elastic-hosts.js";
import { HeadwaterError } from "../errors.js";
import { checkedRules, type Roots } from "./fleet/index.js";
import { HOSTS_MAX } from "./ports/index.js";
import type { RunOptions } from "./service.js";

const TIMES = ["slowEventMs", "eventTimeoutMs", "hostTimeoutMs", "hostStartTimeoutMs"] as const;
const KINDS = ["threads", "processes"];

/** What hosts are to be, once it has been looked at. */
export interface CheckedOptions extends RunOptions {
  readonly hosts: number | ElasticHosts;
}

/** Options of `run` that concern hosts: senseless ones are refused before anything starts, with or without hosts. */
export function checkedHosts(options: RunOptions, roots: Roots): CheckedOptions {
  const { hostsAs = "threads", hostHeapMb, module, placement } = options;
  if (!KINDS.includes(hostsAs)) throw refused("hostsAs", hostsAs, '"threads" or "processes"');
  if (hostHeapMb !== undefined && !isAbove0(hostHeapMb))
    throw refused("hostHeapMb", hostHeapMb, "a number of megabytes above 0");
  for (const time of TIMES) {
    const ms = options[time];
    if (ms !== undefined && !isAbove0(ms)) throw refused(time, ms, "a number of milliseconds above 0");
  }
  return {
    ...options,
    hosts: hostsIn(options.hosts),
    ...(module === undefined ? {} : { module: addressOf(module) }),
    ...(placement === undefined ? {} : { placement: checkedRules(placement, roots) }),
  };
}

function hostsIn(hosts: unknown = 1): number | ElasticHosts {
  if (hosts === "cores") return Math.min(HOSTS_MAX, availableParallelism());
  if (typeof hosts === "number" && Number.isSafeInteger(hosts) && hosts >= 1 && hosts <= HOSTS_MAX)
    return hosts;
  if (typeof hosts !== "object" || hosts === null || Array.isArray(hosts)) {
    throw refused(
      "hosts",
      hosts,
      `a whole number from 1 to ${HOSTS_MAX}, "cores", or bounds such as { min: 1, max: 4 }`,
    );
  }
  const elastic = hosts as ElasticHosts;
  policyOf(elastic); // for its checks
  if (elastic.max > HOSTS_MAX) throw refused("hosts.max", elastic.max, `a whole number up to ${HOSTS_MAX}`);
  return elastic;
}

/** The address of a module, which may be given as the absolute path of a file. */
function addressOf(module: unknown): string {
  const allowed =
    "the address of the module that has the program as its default export: `module: import.meta.url`";
  if (typeof module !== "string") throw refused("module", module, allowed);
  if (isAbsolute(module)) return pathToFileURL(module).href;
  if (URL.canParse(module)) return module;
  throw refused("module", module, `an absolute path, or ${allowed}`);
}

function isAbove0(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}

function refused(option: string, given: unknown, allowed: string): HeadwaterError {
  const shown = typeof given === "string" ? JSON.stringify(given) : String(given);
  return new HeadwaterError(
    "HW-6002",
    `the option \`${option}\` of \`run\` is ${shown}, and should be ${allowed}.`,
  );
}
