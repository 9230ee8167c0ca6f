import { type Difference, tryStreams } from "../streams/trial/index.js";
import type { Terminal } from "./terminal.js";

/** `headwater sim --streams`: 0 if no two runs of a graph of queries differ with the coordination that was decided on, else 1. */
export async function simStreams(
  seeds: readonly number[],
  isJson: boolean,
  terminal: Terminal,
): Promise<number> {
  const report = await tryStreams({ seeds });
  const { difference, queries, worse, shown } = report;
  if (isJson) terminal.out(JSON.stringify({ ok: difference === null, ...report }));
  else if (difference !== null) for (const line of linesOf(difference)) terminal.out(line);
  else
    terminal.out(
      `${report.seeds} graphs with ${queries} queries: with the coordination that was decided on, no two runs differ. ` +
        `Without it, ${shown} of ${worse} queries with a label worse than Async gave different answers.`,
    );
  return difference === null ? 0 : 1;
}

function linesOf({ seed, query, sql, coordination, rows, given }: Difference): string[] {
  const shown = (which: 0 | 1) => [
    ...rows[which].map(
      ({ stream, producer, cells }) => `    ${stream} from ${producer}: ${cells.join(", ")}`,
    ),
    "  gives",
    ...given[which].split("\n").map((line) => `    ${line}`),
  ];
  return [
    `seed ${seed}: ${query} gives different answers although its coordination is: ${coordination}`,
    `  ${sql}`,
    "  one order",
    ...shown(0),
    "  another order",
    ...shown(1),
    `replay: headwater sim --streams --seed=${seed}`,
  ];
}
