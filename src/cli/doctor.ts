import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";

const SIGNS = { good: "ok", warning: "warning", wrong: "WRONG" } as const;
const WIDTH = 9;

export const doctor: CliCommand = {
  name: "doctor",
  operands: [],
  summary: "say whether the servers of a cluster are configured safely",
  details:
    "Looks at each NATS server of the address, at the log if there is one, and at this machine's clock, and says for each what was found and what " +
    "to do about it. Nothing is changed. Exits with 1 if something is wrong; a start would refuse that, too. Credentials come from the " +
    "environment, as for `headwater run --cluster`; so do the addresses of the servers' monitoring (HEADWATER_NATS_MONITORING), which show " +
    "how often the servers sync their disks.",
  options: {
    cluster: { value: "ADDRESS", help: "the cluster: nats://HOST:PORT,HOST:PORT/NAME" },
  },
  async run({ operands, values, flags }, terminal) {
    const [extra] = operands;
    if (extra !== undefined) throw misused(doctor, `"${extra}" is one word too many.`);
    const address = values.get("cluster");
    if (address === undefined) throw misused(doctor, "it needs --cluster and the address of the cluster.");
    const { examineCluster } = await import("../cluster/index.js");
    const findings = await examineCluster(address, process.env);
    if (flags.has("json")) terminal.out(JSON.stringify(findings));
    else {
      for (const { verdict, what, found, fix, code } of findings) {
        terminal.out(`${SIGNS[verdict].padEnd(WIDTH)}${what}: ${found}`);
        if (fix !== "") terminal.out(`${"".padEnd(WIDTH)}${fix} (${code})`);
      }
    }
    return findings.some(({ verdict }) => verdict === "wrong") ? 1 : 0;
  },
};
