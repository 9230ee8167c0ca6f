/** What the main loop knows of its process: packages ask for that while they are loaded. */
export interface HostFacts {
  readonly argv: readonly string[];
  readonly streams: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export function factsOfHost(): HostFacts {
  const of = ({ isTTY, columns, rows }: NodeJS.WriteStream, fd: number) => ({ isTTY, columns, rows, fd });
  return {
    argv: process.argv.slice(),
    streams: { stdout: of(process.stdout, 1), stderr: of(process.stderr, 2) },
  };
}
