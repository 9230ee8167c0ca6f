// Loaded before a program, plain or compiled: it ends as by itself, so that its figures are written.
process.once("SIGTERM", () => process.exit(0));
