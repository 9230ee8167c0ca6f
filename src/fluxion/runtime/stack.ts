/** Where stages are called from, as it stands in stack traces, built or not. */
const CALLER = /^\s+at .*fluxion[\\/]runtime[\\/]work\.[jt]s:/;

/** An error of a stage without the lines of its stack that are only about the worker that it ran in. */
export function trimmed(error: unknown): unknown {
  if (!(error instanceof Error) || typeof error.stack !== "string") return error;
  const lines = error.stack.split("\n");
  const end = lines.findIndex((line) => CALLER.test(line));
  if (end > 0) error.stack = lines.slice(0, end).join("\n");
  return error;
}
