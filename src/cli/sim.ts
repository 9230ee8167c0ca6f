import type { CliCommand } from "./command.js";

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
    crashes: { help: "with a journal on a simulated disk, and crashes at any moment" },
  },
  async run({ flags, values }, terminal) {
    const { runSimCommand } = await import("../sim/command.js");
    const options = [...values].map(([name, value]) => `--${name}=${value}`);
    return await runSimCommand([...options, ...[...flags].map((name) => `--${name}`)], terminal);
  },
};
