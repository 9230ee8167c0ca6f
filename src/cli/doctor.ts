import { checkPart } from "../packages.js";
import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { examineMachine, type MachineFinding } from "./examine-machine.js";

const SIGNS = { good: "ok", warning: "warning", wrong: "WRONG" } as const;
const WIDTH = 9;

export const doctor: CliCommand = {
  name: "doctor",
  operands: [],
  summary: "say whether this machine, or a cluster's servers, are fit, and what to do",
  details:
    "Without --cluster, looks at this machine: Node, the clock, how long the disk takes to sync, and the journal and port that are named. " +
    "With --cluster, looks at each NATS server of the address, at the log if there is one, and at this machine's clock, and says for each what was found and what " +
    "to do about it. Nothing is changed. Exits with 1 if something is wrong; a start would refuse that, too. Credentials come from the " +
    "environment, as for `headwater run --cluster`; so do the addresses of the servers' monitoring (HEADWATER_NATS_MONITORING), which show " +
    "how often the servers sync their disks.",
  options: {
    journal: {
      value: "DIR",
      help: "the journal of a program: its folder is looked at, and its disk is measured",
    },
    port: { value: "N", help: "a port that should be free" },
    cluster: { value: "ADDRESS", help: "the cluster: nats://HOST:PORT,HOST:PORT/NAME" },
  },
  async run(args, terminal) {
    const { operands, values, flags } = args;
    const [extra] = operands;
    if (extra !== undefined) throw misused(doctor, `"${extra}" is one word too many.`);
    const address = values.get("cluster");
    const findings = address === undefined ? await examineMachine(args, doctor) : await ofCluster(address);
    if (flags.has("json")) terminal.out(JSON.stringify(findings));
    else {
      for (const { verdict, what, found, fix, code } of findings as readonly Shown[]) {
        terminal.out(`${SIGNS[verdict].padEnd(WIDTH)}${what}: ${found}`);
        if (fix !== "") terminal.out(`${"".padEnd(WIDTH)}${fix}${code === undefined ? "" : ` (${code})`}`);
      }
    }
    return findings.some(({ verdict }) => verdict === "wrong") ? 1 : 0;
  },
};

/** The servers of a cluster are named by their codes. */
type Shown = MachineFinding & { readonly code?: string };

async function ofCluster(address: string) {
  checkPart("NATS");
  const { examineCluster } = await import("../cluster/index.js");
  return examineCluster(address, process.env);
}
