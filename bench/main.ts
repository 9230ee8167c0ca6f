/** `npm run bench -- NAME [options]`: runs one bench. Figures go to stdout, everything else to stderr. */

interface Bench {
  main(args: readonly string[]): Promise<void>;
}

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  micro: () => import("./micro.js"),
  state: () => import("./state.js"),
  durable: () => import("./durable.js"),
};

const USAGE = `npm run bench -- NAME [--json] [--quick] [--events N] [--peers]

  micro    events per second and latency of one context call, beside a plain queue and two actor libraries
  state    events per second against the size of the context, for plain and for tracked fields
  durable  the same with a journal on disk, beside a file synced by hand; also over a WebSocket from another process

  --json      one JSON object per line instead of a table
  --quick     shorter rounds: about ten seconds, rougher figures
  --events N  exactly N events per round
  --peers     durable only: beside PostgreSQL and Redis too, where they are installed
`;

const [name, ...args] = process.argv.slice(2);
const load = name === undefined ? undefined : benches[name];
if (load !== undefined) {
  try {
    await (await load()).main(args);
  } catch (error) {
    process.stderr.write(`bench ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write(name === undefined ? USAGE : `There is no bench "${name}".\n\n${USAGE}`);
  process.exitCode = name === undefined ? 0 : 1;
}
