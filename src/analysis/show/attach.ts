import type { LayoutEdge, PlacedBox, Point } from "./layout.js";

interface End {
  readonly edge: number;
  readonly which: "first" | "last";
  /** The height of the next point on the way, by which the ends at one side are sorted. */
  readonly towards: number;
}

/** All the points of each edge. Where edges meet their boxes they are spread over the side that they leave or enter by, so that they can be told apart; a loop has none. */
export function attach(
  edges: readonly LayoutEdge[],
  boxes: ReadonlyMap<string, PlacedBox>,
  ways: readonly (readonly Point[])[],
): Point[][] {
  const sides = new Map<string, End[]>();
  const at = (name: string, side: "left" | "right", end: End) => {
    const key = JSON.stringify([side, name]);
    const list = sides.get(key);
    if (list === undefined) sides.set(key, [end]);
    else list.push(end);
  };
  for (const [i, { from, to }] of edges.entries()) {
    const [start, end] = [boxes.get(from), boxes.get(to)];
    const way = ways[i] ?? [];
    if (start === undefined || end === undefined || from === to) continue;
    const back = end.x < start.x;
    at(from, back ? "left" : "right", { edge: i, which: "first", towards: way[0]?.y ?? end.y });
    at(to, back ? "right" : "left", { edge: i, which: "last", towards: way.at(-1)?.y ?? start.y });
  }
  const points = edges.map((): { first?: Point; last?: Point } => ({}));
  for (const [key, ends] of sides) {
    const [side, name] = JSON.parse(key) as ["left" | "right", string];
    const box = boxes.get(name);
    if (box === undefined) continue;
    ends.sort((a, b) => a.towards - b.towards || a.edge - b.edge);
    for (const [nth, { edge, which }] of ends.entries()) {
      const point = points[edge];
      if (point === undefined) continue;
      const y = box.y + (box.height * (nth + 1)) / (ends.length + 1);
      point[which] = { x: side === "left" ? box.x : box.x + box.width, y };
    }
  }
  return points.map(({ first, last }, i) => {
    const [start, end] = [boxes.get(edges[i]?.from ?? ""), boxes.get(edges[i]?.to ?? "")];
    if (first === undefined || last === undefined || start === undefined || end === undefined) return [];
    const back = end.x < start.x;
    // Level until the column ends: another box of it may be wider.
    return [
      first,
      { x: back ? start.left : start.right, y: first.y },
      ...(ways[i] ?? []),
      { x: back ? end.right : end.left, y: last.y },
      last,
    ];
  });
}
