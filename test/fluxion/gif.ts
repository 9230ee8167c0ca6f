/** The pixels of the first frame of a GIF in two colours, read by the book. */
export function pixelsOf(gif: Buffer): number[] {
  let at = 13 + 6;
  while (gif[at] === 0x21) at += 8;
  const depth = gif[at + 10] ?? 0;
  const data: number[] = [];
  for (at += 11; (gif[at] ?? 0) > 0; at += 1 + (gif[at] ?? 0))
    data.push(...gif.subarray(at + 1, at + 1 + (gif[at] ?? 0)));
  const [clear, end] = [1 << depth, (1 << depth) + 1];
  const pixels: number[] = [];
  let [bits, filled, size] = [0, 0, depth + 1];
  let runs: number[][] = [];
  let before: number[] | null = null;
  for (const byte of data) {
    bits |= byte << filled;
    filled += 8;
    while (filled >= size) {
      const code = bits & ((1 << size) - 1);
      bits >>>= size;
      filled -= size;
      if (code === end) return pixels;
      if (code === clear) {
        runs = Array.from({ length: clear + 2 }, (_, i) => [i]);
        size = depth + 1;
        before = null;
        continue;
      }
      const run: number[] = runs[code] ?? [...(before ?? []), (before ?? [])[0] ?? 0];
      pixels.push(...run);
      if (before !== null) runs.push([...before, run[0] ?? 0]);
      if (runs.length === 1 << size && size < 12) size += 1;
      before = run;
    }
  }
  return pixels;
}
