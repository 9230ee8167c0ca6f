/** Where the words of a picture are, roughly: enough to see whether they run into one another. */
interface Box {
  readonly words: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const [CHARACTER_WIDTH, HEIGHT] = [6.2, 11];

export function boxesIn(svg: string): Box[] {
  const found = svg.matchAll(
    /<text class="(\w+)"(?: text-anchor="(\w+)")? x="([-\d.]+)" y="([-\d.]+)">([^<]*)</g,
  );
  return [...found].map(([, kind, anchor, x, y, words = ""]) => {
    const width = words.length * CHARACTER_WIDTH * (kind === "title" ? 1.3 : 1);
    const left = Number(x) - (anchor === "middle" ? width / 2 : anchor === "end" ? width : 0);
    return { words, left, right: left + width, top: Number(y) - HEIGHT, bottom: Number(y) };
  });
}

/** Pairs of words that lie on each other, and words that are not in the picture. */
export function troubleIn(svg: string): string[] {
  const boxes = boxesIn(svg);
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
  const outside = boxes.filter(
    ({ left, right, bottom }) => left < 0 || right > Number(width) || bottom > Number(height),
  );
  const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) => [a, b] as const));
  const overlapping = pairs.filter(
    ([a, b]) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
  );
  return [
    ...outside.map(({ words }) => `"${words}" is outside`),
    ...overlapping.map(([a, b]) => `"${a.words}" and "${b.words}" overlap`),
  ];
}
