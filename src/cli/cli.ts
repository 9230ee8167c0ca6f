import { readArguments } from "./arguments.js";
import { commands } from "./commands.js";
import { commandNamed, details, overview } from "./help.js";
import { report } from "./report.js";
import type { Terminal } from "./terminal.js";
import { packageVersion } from "./version.js";

const NOTHING_ASKED = 2;

/** Carries out one command line; returns the exit code. Never throws: what goes wrong is reported. */
export async function commandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await carryOut(args, terminal);
  } catch (error) {
    return report(error, terminal, args.includes("--json"));
  }
}

async function carryOut(args: readonly string[], terminal: Terminal): Promise<number> {
  const name = args.find((arg) => arg !== "--json");
  const rest = args.filter((_, i) => i !== args.indexOf(name ?? ""));
  if (name === undefined) {
    terminal.say(overview(commands));
    return NOTHING_ASKED;
  }
  if (name === "--version" || name === "-v") {
    const version = packageVersion();
    terminal.out(rest.includes("--json") ? JSON.stringify({ version }) : version);
    return 0;
  }
  const command = commandNamed(name === "--help" || name === "-h" ? "help" : name, commands);
  const given = readArguments(command, rest);
  if (given.flags.has("help")) {
    terminal.out(details(command));
    return 0;
  }
  return await command.run(given, terminal);
}
