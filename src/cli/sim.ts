import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";

const SEEDS_MAX = 10_000_000;

export const sim: CliCommand = {
  name: "sim",
  operands: [],
  summary: "try to prove the runtime wrong with generated programs",
  details:
    "Generates programs and workloads from seeds, runs them in the real core under a seeded scheduler with " +
    "virtual time, and compares all that can be seen of them with the same events run one at a time. A " +
    "difference is printed with its seed, a shrunk program and the command that replays it.",
  options: {
    seeds: { value: "N", help: "how many seeds to try" },
    seed: { value: "K", help: "replay only this seed, or begin --seeds with it" },
    events: { value: "N", help: "how many requests each seed makes" },
    hosts: { help: "on several simulated hosts" },
    streams: { help: "random graphs of queries instead of programs: is their coordination enough?" },
    crashes: { help: "with a journal on a simulated disk, and crashes at any moment" },
  },
  async run({ flags, values }, terminal) {
    if (flags.has("streams")) {
      const { simStreams } = await import("./sim-streams.js");
      const first = whole(values.get("seed") ?? "1", "seed");
      const count =
        values.has("seed") && !values.has("seeds") ? 1 : whole(values.get("seeds") ?? "100", "seeds");
      const seeds = Array.from({ length: count }, (_, i) => first + i);
      return await simStreams(seeds, flags.has("json"), terminal);
    }
    const { runSimCommand } = await import("../sim/command.js");
    const options = [...values].map(([name, value]) => `--${name}=${value}`);
    return await runSimCommand([...options, ...[...flags].map((name) => `--${name}`)], terminal);
  },
};

function whole(text: string, option: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0 && value <= SEEDS_MAX) return value;
  throw misused(sim, `--${option} is a whole number up to ${SEEDS_MAX}.`);
}
