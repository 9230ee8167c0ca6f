import { parseArgs } from "node:util";
import type { Effort } from "./rounds.js";

/** The options that all benches take. */
export function optionsFrom(args: readonly string[], full: Effort, quick: Effort) {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: "boolean" }, quick: { type: "boolean" }, events: { type: "string" } },
  });
  const effort: Effort = { ...(values.quick ? quick : full), events: countFrom(values.events) };
  return { json: values.json === true, effort };
}

/** Takes `--peers` out, for the bench that knows it: the others refuse it like any unknown option. */
export function withoutPeers(args: readonly string[]) {
  return { peers: args.includes("--peers"), others: args.filter((arg) => arg !== "--peers") };
}

function countFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1)
    throw new Error(`--events takes a whole number, not "${text}".`);
  return count;
}
