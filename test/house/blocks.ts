/** A fenced block of a Markdown page. */
export interface Block {
  readonly language: string;
  /** Written as ```ts fragment: not a whole program, so it is not compiled. */
  readonly fragment: boolean;
  readonly text: string;
  /** The line of the page on which the text begins, counted from 1. */
  readonly line: number;
  /** The heading that it stands under. */
  readonly section: string;
}

const FENCE = /^```(\w*)\s*(.*)$/;
const HEADING = /^## (.+)$/;

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let section = "";
  let open: { language: string; fragment: boolean; line: number; lines: string[] } | null = null;
  for (const [i, line] of markdown.split("\n").entries()) {
    const fence = FENCE.exec(line);
    if (open !== null) {
      if (fence === null) {
        open.lines.push(line);
      } else {
        const { lines, ...rest } = open;
        blocks.push({ ...rest, section, text: `${lines.join("\n")}\n` });
        open = null;
      }
    } else if (fence !== null) {
      open = { language: fence[1] ?? "", fragment: fence[2] === "fragment", line: i + 2, lines: [] };
    } else {
      section = HEADING.exec(line)?.[1] ?? section;
    }
  }
  return blocks;
}

export function sectionsOf(markdown: string): string[] {
  return markdown.split("\n").flatMap((line) => HEADING.exec(line)?.[1] ?? []);
}
