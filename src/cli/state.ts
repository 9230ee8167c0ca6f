import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { HeadwaterError } from "../errors.js";
import { contextNameIn } from "../host/context/index.js";
import { existingCard } from "../journal/directory.js";
import { withSurvey } from "../journal/survey.js";
import { askDoor, runningProgram, type ShownState } from "./admin.js";
import { type Arguments, absent } from "./arguments.js";
import type { CliCommand } from "./command.js";
import { entryAsJson } from "./journal-owned.js";
import type { Terminal } from "./terminal.js";

export const state: CliCommand = {
  name: "state",
  operands: ["[ADDRESS]"],
  summary: "show the state of a context, of a program that runs or from its journal",
  details:
    "ADDRESS is as in failures and logs: `headwater state 'Bank.accounts(\"ada\")' --journal data`. Without it, the root is shown. A " +
    "program that runs on this machine, for the same user, is asked, and says which host has the context and which contexts are below it. " +
    "If none runs, the journal is read: what it has of the context, one key per line. Exit code 2: there is no such context.",
  options: {
    journal: { value: "DIR", help: "the journal of the program" },
    admin: { value: "PATH", help: "where the program listens" },
  },
  async run(args, terminal) {
    const context = args.operands[0];
    const door = runningProgram(state, args);
    try {
      const shown = (await askDoor(door, { action: "state", context })) as ShownState;
      if (args.flags.has("json")) terminal.out(JSON.stringify(shown));
      else show(shown, terminal);
      return 0;
    } catch (error) {
      if (!(error instanceof HeadwaterError)) throw error;
      if (error.code !== "HW-6016" || args.values.has("admin")) throw refused(error);
      return await fromJournal(args, context, terminal);
    }
  },
};

/** An address that the program does not know is a mistake on the command line. */
function refused(error: HeadwaterError): HeadwaterError {
  return error.code === "HW-6013" ? absent(error.message, state) : error;
}

function show({ address, className, host, state: fields, below }: ShownState, terminal: Terminal): void {
  terminal.out(`${address}  ${className}${host === null ? "" : `, host ${host}`}`);
  terminal.out(JSON.stringify(fields, null, 2));
  for (const [field, { addresses, hasMore }] of Object.entries(below)) {
    terminal.out(
      `${field}: ${addresses.length === 0 ? "none" : addresses.join(", ")}${hasMore ? ", …" : ""}`,
    );
  }
}

async function fromJournal(
  { values }: Arguments,
  context: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const directory = resolve(values.get("journal") ?? "");
  if (!existsSync(directory)) throw absent(`There is no ${directory}.`, state);
  existingCard(directory);
  let found = 0;
  await withSurvey(directory, async ({ entries }) => {
    for (const [key, value] of entries) {
      const name = contextNameIn(key);
      if (name === null || value === null) continue;
      const address = name.slice(name.indexOf("/") + 1);
      if (context === undefined ? /[.#(]/.test(address) : address !== context) continue;
      found += 1;
      terminal.out(`{"key":${JSON.stringify(key)},"value":${entryAsJson(key, value)}}`);
    }
  });
  if (found > 0) return 0;
  throw absent(
    `The journal has nothing of ${context === undefined ? "the root" : JSON.stringify(context)}, and no process runs with it.`,
    state,
  );
}
