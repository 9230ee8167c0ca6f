import { styleText } from "node:util";

/** Where a command writes: data for other programs to `out`, text for people to `say`. */
export interface Terminal {
  out(line: string): void;
  say(line: string): void;
  readonly colours: boolean;
}

type Look = Parameters<typeof styleText>[0];

export function paint(terminal: Terminal, look: Look, text: string): string {
  return terminal.colours ? styleText(look, text) : text;
}

/** The process's own streams. Text for people is coloured only where people look at it. */
export function processTerminal(): Terminal {
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    say: (line) => void process.stderr.write(`${line}\n`),
    colours: process.stderr.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb",
  };
}

export function closedPipe(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? 0 : 1);
}
