/** What is around a part in a worker module; the part itself has a line of its own in stack traces. */
export const AROUND_PART = "__flx_part";

/** Where stages are called from, as it stands in stack traces, built or not. */
const CALLER = /^\s+at .*fluxion[\\/]runtime[\\/]work\.[jt]s:/;
const AROUND = new RegExp(`^\\s+at (?:async )?${AROUND_PART} `);

/** The stack of an error that comes from a stage, without the lines that are only about the worker that it ran in. */
export function withoutWorker(stack: string): string {
  const lines = stack.split("\n");
  const end = lines.findIndex((line) => CALLER.test(line));
  const own = end > 0 ? lines.slice(0, end) : lines;
  return own.filter((line) => !AROUND.test(line)).join("\n");
}
