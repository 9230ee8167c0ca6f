#!/usr/bin/env node
import { commandLine } from "./cli.js";
import { closedPipe, processTerminal } from "./terminal.js";

// A reader that has seen enough (`headwater explain | head -3`) closes the pipe; that is no failure.
process.stdout.on("error", closedPipe);

// Not awaited here: a command may hand the process over to a program, which then ends it as it likes.
void commandLine(process.argv.slice(2), processTerminal()).then((exitCode) => {
  // What a program left open (a listener, an interval) must not keep the process alive after its run has ended.
  process.stdout.write("", () => process.exit(exitCode));
});
