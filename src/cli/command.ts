import type { Arguments } from "./arguments.js";
import type { Terminal } from "./terminal.js";

/** One option of a command. Options that take a value say what to write for it: `--seeds N`. */
export interface Option {
  readonly value?: string;
  readonly help: string;
}

/** One word of the command line and everything that help says about it. */
export interface CliCommand {
  readonly name: string;
  /** What to write behind the name: `PROGRAM`, `[CODE]`. */
  readonly operands: readonly string[];
  readonly summary: string;
  /** A few sentences for `headwater help NAME`. */
  readonly details: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Takes what stands behind `--`, whatever it is. */
  readonly passesOn?: boolean;
  /** The exit code: 0 for done, 1 for failed. Exit code 2 is for errors that `run` throws: HW-2001, HW-2004 and others. */
  run(args: Arguments, terminal: Terminal): Promise<number>;
}
