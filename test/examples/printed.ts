import type { ProgramIo } from "headwater";

/** What an example's demonstration prints. */
export async function printed<S>(
  main: (service: S, io: ProgramIo) => Promise<void>,
  service: S,
): Promise<string[]> {
  const lines: string[] = [];
  const { signal } = new AbortController();
  await main(service, { print: (line) => lines.push(line), signal, forever: false, load: 1 });
  return lines;
}
