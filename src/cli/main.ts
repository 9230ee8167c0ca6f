#!/usr/bin/env node
import { commandLine } from "./cli.js";
import { processTerminal } from "./terminal.js";

// A reader that has seen enough (`headwater explain | head -3`) closes the pipe; that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const exitCode = await commandLine(process.argv.slice(2), processTerminal());

// What a program left open (a listener, an interval) must not keep the process alive after its run has ended.
process.stdout.write("", () => process.exit(exitCode));
