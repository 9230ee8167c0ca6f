import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HeadwaterError } from "../errors.js";
import { type SealedKey, StreamsClient } from "../streams/client/index.js";
import { type Arguments, absent, isAbsent, misused, unreadable } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { onInterrupt } from "./interrupt.js";
import { nameIn, type Use, useDoors } from "./stream-doors.js";
import type { Terminal } from "./terminal.js";

const URL_DEFAULT = "http://127.0.0.1:4400";
const TOKEN_FILE = join("headwater-data", "admin.token");
const HOUR_MS = 3600 * 1000;

/** Carries out `headwater streams ACTION …`. */
export async function useService(command: CliCommand, args: Arguments, terminal: Terminal): Promise<number> {
  const url = args.values.get("url") ?? process.env.HEADWATER_URL ?? URL_DEFAULT;
  const client = new StreamsClient(url, { token: await tokenOf(command, args), retryMs: 5000 });
  try {
    await USES[args.operands[0] ?? ""]?.({ command, args, terminal, client });
    return 0;
  } catch (error) {
    if (error instanceof TypeError && error.cause !== undefined)
      throw new HeadwaterError(
        "HW-4018",
        `no service answers at ${url}. Start one with \`headwater serve\`.`,
        {
          cause: error,
        },
      );
    throw error;
  }
}

/** From the environment or a file: what stands on a command line can be read by all users of a machine. */
async function tokenOf(command: CliCommand, { values }: Arguments): Promise<string> {
  const { HEADWATER_TOKEN: token } = process.env;
  const named = values.get("token-file");
  if (named === undefined && token !== undefined) return token;
  const file = named ?? TOKEN_FILE;
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (named === undefined && isAbsent(error))
      throw absent(`There is no token: set HEADWATER_TOKEN, or name a file with --token-file.`, command);
    throw unreadable(command, file, error);
  }
}

const USES: Readonly<Record<string, (use: Use) => Promise<void>>> = {
  async register({ command, args: { operands, flags }, terminal, client }) {
    const [, first, second] = operands;
    if (first === undefined) throw misused(command, "What is to be registered?");
    const backfill = flags.has("backfill");
    const id = await (second === undefined
      ? client.define(first, { backfill })
      : client.registerQuery(first, second, { backfill }));
    terminal.out(flags.has("json") ? JSON.stringify({ id }) : id);
  },
  async push(use) {
    const { pushRows } = await import("./push-rows.js");
    await pushRows(use);
  },
  output: (use) => useDoors(use, "outputs"),
  source: (use) => useDoors(use, "sources"),
  async watch({ command, args: { operands, values }, terminal, client }) {
    const name = nameIn(command, operands[1]);
    const [from, count] = [numberIn(command, values, "from"), numberIn(command, values, "count")];
    const interrupt = onInterrupt(() => {});
    try {
      const options = { signal: interrupt.signal, ...(from === undefined ? {} : { from }) };
      let left = count ?? Number.POSITIVE_INFINITY;
      if (left === 0) return;
      for await (const row of client.subscribe(name, options)) {
        terminal.out(JSON.stringify(row));
        left--;
        if (left === 0) return;
      }
    } finally {
      interrupt.release();
    }
  },
  async list({ args: { flags }, terminal, client }) {
    for (const each of await client.list()) {
      const columns = each.columns.map(({ name, type, nullable }) => `${name} ${type}${nullable ? "?" : ""}`);
      if (flags.has("json")) terminal.out(JSON.stringify(each));
      else terminal.out(`${each.kind} ${each.name} (${columns.join(", ")}), next row ${each.next}`);
    }
  },
  async explain({ command, args: { operands, flags }, terminal, client }) {
    const explained = await client.explain(nameIn(command, operands[1]));
    terminal.out(flags.has("json") ? JSON.stringify({ explain: explained }) : explained);
  },
  async deregister({ command, args: { operands }, client }) {
    await client.deregister(nameIn(command, operands[1]));
  },
  async seal({ command, args: { operands, values }, client }) {
    const [, name, partition] = operands;
    const stream = nameIn(command, name);
    const producer = values.get("producer") ?? "";
    if (partition === undefined) return await client.seal(stream, producer);
    await client.producer(stream, producer).seal(partitionIn(command, partition));
  },
  async producers({ command, args: { operands }, client }) {
    await client.declareProducers(nameIn(command, operands[1]), nameIn(command, operands[2]).split(","));
  },
  async share({ command, args: { operands }, client }) {
    const tenants = nameIn(command, operands[2]);
    await client.share(nameIn(command, operands[1]), tenants === "all" ? tenants : tenants.split(","));
  },
  async unshare({ command, args: { operands }, client }) {
    await client.unshare(nameIn(command, operands[1]));
  },
  async tokens({ command, args: { operands, values, flags }, terminal, client }) {
    const [, action, id] = operands;
    if (action === "add") {
      const scopes = (values.get("scopes") ?? "").split(",") as Parameters<
        typeof client.addToken
      >[0]["scopes"];
      const hours = numberIn(command, values, "expires-hours");
      const expires = hours === undefined ? {} : { expiresMs: Date.now() + hours * HOUR_MS };
      const token = await client.addToken({ scopes, ...expires });
      terminal.out(flags.has("json") ? JSON.stringify({ token }) : token);
    } else if (action === "list") {
      for (const token of await client.tokens()) terminal.out(JSON.stringify(token));
    } else if (action === "revoke") await client.revokeToken(nameIn(command, id));
    else throw misused(command, "tokens takes add, list or revoke ID.");
  },
  async tenants({ command, args: { operands, flags }, terminal, client }) {
    const [, action, name] = operands;
    if (action !== "add") throw misused(command, "tenants takes add NAME.");
    const token = await client.addTenant(nameIn(command, name));
    terminal.out(flags.has("json") ? JSON.stringify({ token }) : token);
  },
};

function partitionIn(command: CliCommand, text: string): SealedKey {
  try {
    const values: unknown = JSON.parse(text);
    if (Array.isArray(values)) return values as SealedKey;
  } catch {
    // said below
  }
  throw misused(command, `A partition is a list of values in JSON, such as '["autumn"]'.`);
}

function numberIn(
  command: CliCommand,
  values: ReadonlyMap<string, string>,
  option: string,
): number | undefined {
  const text = values.get(option);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw misused(command, `--${option} is a number.`);
}
