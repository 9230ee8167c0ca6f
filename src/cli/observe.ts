import { connect } from "node:net";
import { KINDS, type Kind } from "../observe/index.js";
import { didYouMean } from "../suggest.js";
import { askDoor, runningProgram } from "./admin.js";
import { kindsIn } from "./admin-feed.js";
import { misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { onInterrupt } from "./interrupt.js";

export const observe: CliCommand = {
  name: "observe",
  operands: ["[KIND,...]"],
  summary: "print what goes on in a program that runs: events, waits, hosts, migrations, failures",
  details:
    `Prints one line of JSON for each fact, until the program ends or Ctrl-C. KIND is one of ${KINDS.join(", ")}; without ` +
    "one, all are printed. Facts that are not read fast enough are dropped, and a line says how many. The program is one " +
    "that `headwater run` runs on this machine, for the same user: --journal names its journal, or --admin what it was " +
    "given as --admin.",
  options: {
    journal: { value: "DIR", help: "the journal of the program" },
    admin: { value: "PATH", help: "where the program listens" },
  },
  async run(args, terminal) {
    const written = args.operands[0]?.split(",") ?? [];
    const kinds = kindsIn(written);
    if (kinds === null) {
      const wrong = written.find((each) => !KINDS.some((kind) => kind === each)) ?? "";
      throw misused(observe, `"${wrong}" is none of ${KINDS.join(", ")}.${didYouMean(wrong, KINDS)}`);
    }
    const interrupt = onInterrupt(() => {});
    try {
      await readFacts(runningProgram(observe, args), kinds, (line) => terminal.out(line), interrupt.signal);
    } finally {
      interrupt.release();
    }
    return 0;
  },
};

/** Hands out the lines of a program's feed. Resolves when the program closes it, or at the signal. */
async function readFacts(
  path: string,
  kinds: readonly Kind[],
  out: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await askDoor(path, { action: "parked" }); // says why, if no program is there
  await new Promise<void>((resolve) => {
    const socket = connect(path);
    let text = "";
    socket.on("connect", () => socket.write(`${JSON.stringify({ action: "observe", kinds })}\n`));
    socket.on("error", () => {}); // it is followed by a close
    socket.on("close", () => resolve());
    socket.setEncoding("utf8").on("data", (some: string) => {
      const lines = (text + some).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) out(line);
    });
    if (signal.aborted) socket.destroy();
    else signal.addEventListener("abort", () => socket.destroy(), { once: true });
  });
}
