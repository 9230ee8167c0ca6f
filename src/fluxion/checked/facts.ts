/** What the main loop knows of its process: packages ask for that while they are loaded. */
export interface HostFacts {
  readonly argv: readonly string[];
  readonly streams: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export function factsOfHost(): HostFacts {
  const of = (name: "stdout" | "stderr", fd: number) => {
    const { isTTY, columns, rows } = process[name];
    return { isTTY, columns, rows, fd };
  };
  return {
    argv: process.argv.slice(),
    streams: { stdout: of("stdout", 1), stderr: of("stderr", 2) },
  };
}
