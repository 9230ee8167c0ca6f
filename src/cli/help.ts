import { HeadwaterError } from "../errors.js";
import { didYouMean } from "../suggest.js";
import { COMMON_OPTIONS, usageOf } from "./arguments.js";
import type { CliCommand, Option } from "./command.js";

const WIDTH = 80;
/** What is left for a description beside a long name, at least. */
const RIGHT_MIN = 40;

/** `headwater help [COMMAND]`; it needs the table that it is part of. */
export function helpCommand(commands: () => readonly CliCommand[]): CliCommand {
  return {
    name: "help",
    operands: ["[COMMAND]"],
    summary: "what the commands do and take",
    details: "Without COMMAND, lists all commands.",
    options: {},
    async run({ operands: [name], flags }, terminal) {
      const about = name === undefined ? commands() : [commandNamed(name, commands())];
      if (flags.has("json")) for (const command of about) terminal.out(JSON.stringify(described(command)));
      else terminal.out(name === undefined ? overview(commands()) : about.map(details).join("\n"));
      return 0;
    },
  };
}

export function commandNamed(name: string, commands: readonly CliCommand[]): CliCommand {
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return command;
  const [what, known] = name.startsWith("-")
    ? ["option", ["--version", "--help"]]
    : ["command", commands.map((each) => each.name)];
  const hint = didYouMean(name, known);
  throw new HeadwaterError("HW-2001", `There is no ${what} "${name}".${hint} See \`headwater --help\`.`);
}

export function overview(commands: readonly CliCommand[]): string {
  return [
    ...wrapped(
      "headwater: runs ordinary, sequentially written TypeScript as atomic events, in one order, side by side.",
    ),
    "",
    "Usage: headwater COMMAND [options]",
    "",
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    "",
    ...columns([
      ["--version", "print the version"],
      ["--help", "print this"],
    ]),
    "",
    ...wrapped(
      "`headwater help COMMAND` says what a command takes. Text for people goes to stderr, data to stdout. Exit codes: 0 done, " +
        "1 failed, 2 nothing was done: the command line was not understood, or names something that is not there or is of " +
        "another kind.",
    ),
  ].join("\n");
}

export function details(command: CliCommand): string {
  const options: Readonly<Record<string, Option>> = { ...command.options, ...COMMON_OPTIONS };
  const rows = Object.entries(options).map(([name, { value, help }]): [string, string] => [
    value === undefined ? `--${name}` : `--${name} ${value}`,
    help,
  ]);
  return [`Usage: headwater ${usageOf(command)}`, "", ...wrapped(command.details), "", ...columns(rows)].join(
    "\n",
  );
}

function described(command: CliCommand): object {
  const { name, operands, summary, details, options } = command;
  return {
    name,
    usage: usageOf(command),
    operands,
    summary,
    details,
    options: { ...options, ...COMMON_OPTIONS },
  };
}

function columns(rows: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  const space = Math.max(WIDTH - width - 4, RIGHT_MIN);
  return rows.flatMap(([left, right]) =>
    wrapped(right, space).map((line, i) => `  ${(i === 0 ? left : "").padEnd(width)}  ${line}`),
  );
}

function wrapped(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
