import { parseArgs } from "node:util";
import { HeadwaterError } from "../errors.js";
import { didYouMean } from "../suggest.js";
import type { CliCommand, Option } from "./command.js";

/** What stood behind a command's name, checked against what the command takes. */
export interface Arguments {
  readonly operands: readonly string[];
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  /** What stood behind `--`, for a command that passes it on. */
  readonly rest: readonly string[];
}

/** Every command takes these. */
export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  json: { help: "one JSON object per line on stdout" },
  help: { help: "what this command does and takes" },
};

export function readArguments(command: CliCommand, raw: readonly string[]): Arguments {
  const known: Readonly<Record<string, Option>> = { ...command.options, ...COMMON_OPTIONS };
  const { tokens } = parseArgs({
    args: [...raw],
    options: parserOptions(known),
    strict: false,
    tokens: true,
  });
  const operands: string[] = [];
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? raw.length;
  const rest = command.passesOn === true ? raw.slice(end + 1) : [];
  for (const token of tokens) {
    if (token.kind === "positional" && (token.index < end || command.passesOn !== true)) {
      operands.push(token.value);
    }
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined;
    if (option === undefined) throw unknownOption(command, token.rawName, Object.keys(known));
    if (option.value === undefined) {
      if (token.value !== undefined) throw misused(command, `--${token.name} takes no value.`);
      flags.add(token.name);
    } else {
      const missing = token.value === undefined || (!token.inlineValue && isOption(token.value));
      if (missing) throw misused(command, `--${token.name} needs a value: --${token.name} ${option.value}.`);
      values.set(token.name, token.value ?? "");
    }
  }
  const extra = operands[command.operands.length];
  if (extra !== undefined) throw misused(command, `"${extra}" is one word too many.`);
  const lacking = command.operands[operands.length];
  if (lacking !== undefined && !lacking.startsWith("[") && !flags.has("help")) {
    throw misused(command, `${lacking} is missing: headwater ${usageOf(command)}.`);
  }
  return { operands, flags, values, rest };
}

/** A number below 0 is a value, if only to be refused for that, and a dash alone is stdin. */
function isOption(word: string): boolean {
  return /^-[^\d]/.test(word);
}

export function usageOf(command: CliCommand): string {
  const options = Object.keys(command.options).length > 0 ? ["[options]"] : [];
  return [command.name, ...command.operands, ...options].join(" ");
}

/** Something on the command line that a command cannot use. */
export function misused(command: CliCommand, what: string): HeadwaterError {
  return new HeadwaterError("HW-2001", `${what} See \`headwater help ${command.name}\`.`);
}

/** The same for a file that cannot be read; one that is not there has a code of its own. */
export function unreadable(command: CliCommand, file: string, error: unknown): HeadwaterError {
  if (isAbsent(error)) return absent(`There is no file ${file}.`, command);
  return misused(
    command,
    `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
  );
}

/** The command line names something that is not there. */
export function absent(what: string, { name }: CliCommand): HeadwaterError {
  return new HeadwaterError("HW-2004", `${what} See \`headwater help ${name}\`.`);
}

export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

function unknownOption(command: CliCommand, written: string, known: readonly string[]): HeadwaterError {
  const hint = didYouMean(
    written,
    known.map((name) => `--${name}`),
  );
  return misused(command, `"headwater ${command.name}" has no option ${written}.${hint}`);
}

function parserOptions(known: Readonly<Record<string, Option>>) {
  return Object.fromEntries(
    Object.entries(known).map(([name, { value }]) => {
      const type: "string" | "boolean" = value === undefined ? "boolean" : "string";
      return [name, name === "help" ? { type, short: "h" } : { type }];
    }),
  );
}
