import type { CliCommand } from "./command.js";

export const policy: CliCommand = {
  name: "policy",
  operands: ["try"],
  summary: "try an elasticity policy under a recorded load, in virtual time",
  details:
    "Plays a load (recorded by `headwater run --record-load FILE`, or written by hand) to simulated hosts, lets the " +
    "policy add, remove and balance them, and shows what came of it: hosts and latencies over time, what the policy " +
    "did and why, and beside it what a fixed number of hosts would have given. The default export of --policy FILE is " +
    "a policy, that is a function, or bounds to keep, such as { utilisation: [0.3, 0.7] }, which is also what is tried " +
    "without one. The same load and policy give the same result, always.",
  options: {
    load: { value: "FILE", help: "the load, JSON lines" },
    policy: { value: "FILE", help: "the policy, TypeScript or JavaScript" },
    hosts: { value: "MIN..MAX", help: "at least and at most so many hosts (1..4)" },
    svg: { value: "FILE", help: "draw hosts and latencies over time" },
  },
  async run(args, terminal) {
    return (await import("./try-policy.js")).tryPolicyUnder(args, terminal);
  },
};
