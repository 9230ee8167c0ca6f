import type { RunOptions } from "../host/service.js";
import { isNatsAddress } from "../journal/stream/nats-address.js";
import { didYouMean } from "../suggest.js";
import { type Arguments, misused } from "./arguments.js";
import { run } from "./run.js";

const DURABILITIES = ["synced", "written"] as const;

/** Where a program that is run keeps its state, and for how long its past. */
export function journalOf(args: Arguments): Pick<
  RunOptions,
  "durability" | "takeOver" | "dropNodes" | "member" | "history" | "logs"
> & {
  readonly journal?: string;
} {
  const journal = args.values.get("journal");
  const history = historyOf(args);
  const cluster = clusterOf(args);
  if (cluster !== null) return { ...cluster, ...history };
  const durability = choiceOf(args, "durability", DURABILITIES);
  const takeOver = args.flags.has("take-over");
  const dropNodes = args.values.get("drop-node")?.split(",") ?? [];
  if (journal !== undefined) return { journal, durability, takeOver, dropNodes, ...history };
  if (history.history !== undefined)
    throw misused(run, "--history is kept in a journal; it needs --journal as well.");
  if (takeOver) throw misused(run, "--take-over is about a journal; it needs --journal as well.");
  if (dropNodes.length > 0) {
    throw misused(run, "--drop-node deletes state in a journal; it needs --journal as well.");
  }
  if (args.values.has("durability")) {
    throw misused(run, "--durability says how safe a journal is; it needs --journal as well.");
  }
  return {};
}

function historyOf({ values }: Arguments): { readonly history?: number | string } {
  const written = values.get("history");
  if (written === undefined) return {};
  if (!/^[1-9]\d{0,14}$|^[1-9]\d{0,6}[smhd]$/.test(written))
    throw misused(
      run,
      `--history is a number of tickets, or a time such as 1h, 30m or 10s, not "${written}".`,
    );
  return { history: /^\d+$/.test(written) ? Number(written) : written };
}

const NOT_IN_CLUSTER = ["journal", "durability", "drop-node"] as const;

function clusterOf({
  values,
  flags,
}: Arguments): (Pick<RunOptions, "member" | "logs"> & { readonly journal: string }) | null {
  const journal = values.get("cluster");
  const [name, host, logs] = [values.get("name"), values.get("member-host"), values.get("logs")];
  if (journal === undefined) {
    if (name === undefined && host === undefined && logs === undefined) return null;
    throw misused(run, "--name, --member-host and --logs are about a cluster; they need --cluster as well.");
  }
  if (!isNatsAddress(journal))
    throw misused(run, "--cluster is the address of NATS servers: nats://HOST:PORT,HOST:PORT/NAME.");
  const other =
    NOT_IN_CLUSTER.find((option) => values.has(option)) ?? (flags.has("take-over") ? "take-over" : null);
  if (other !== null)
    throw misused(run, `--${other} is about a journal of one process; leave it out with --cluster.`);
  return { journal, member: { name, host }, ...(logs === undefined ? {} : { logs: logsIn(logs) }) };
}

/** `ledger=Bank,Vault;chat=Chat`. */
function logsIn(written: string): Readonly<Record<string, readonly string[]>> {
  const logs = written.split(";").map((each): [string, readonly string[]] => {
    const [log = "", nodes = "", more] = each.split("=");
    if (log === "" || nodes === "" || more !== undefined)
      throw misused(run, `--logs is LOG=NODE,NODE;LOG=NODE, not "${written}".`);
    return [log, nodes.split(",")];
  });
  return Object.fromEntries(logs);
}

/** The value of an option that takes one of a few; the first of them if it is not given. */
export function choiceOf<T extends string>(
  args: Arguments,
  option: string,
  choices: readonly [T, ...T[]],
): T {
  const written = args.values.get(option) ?? choices[0];
  const choice = choices.find((each) => each === written);
  if (choice !== undefined) return choice;
  throw misused(
    run,
    `--${option} is ${choices.join(" or ")}, not "${written}".${didYouMean(written, choices)}`,
  );
}
