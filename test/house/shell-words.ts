/** What ends a command in a shell. */
const ENDS = /^(\|\|?|&&?|;|\n|<|[12&]?>{1,2}(&\d)?)/;

/**
 * The commands of a shell script, each as its words, without what a prompt, an assignment or `npx` is before them. It knows quotes,
 * comments, pipes and continued lines: as much as pages use.
 */
export function wordsOf(script: string): string[][] {
  const commands: string[][] = [[]];
  let rest = script.replaceAll("\\\n", " ");
  let word: string | null = null;
  const end = () => {
    if (word !== null) commands.at(-1)?.push(word);
    word = null;
  };
  while (rest !== "") {
    const [ending] = ENDS.exec(rest) ?? [];
    const [quoted, inner = ""] = /^'([^']*)'|^"((?:[^"\\]|\\.)*)"/.exec(rest) ?? [];
    let taken = 1;
    if (word === null && rest.startsWith("#")) taken = /^[^\n]*/.exec(rest)?.[0].length ?? 1;
    else if (quoted !== undefined) {
      word = `${word ?? ""}${inner}`;
      taken = quoted.length;
    } else if (ending !== undefined) {
      end();
      commands.push(/[<>]/.test(ending) ? [""] : []); // behind an arrow stands a file, not a command
      taken = ending.length;
    } else if (/^\s/.test(rest)) end();
    else word = `${word ?? ""}${rest[0]}`;
    rest = rest.slice(taken);
  }
  end();
  return commands.map(withoutBefore).filter((words) => words.length > 0);
}

function withoutBefore(words: readonly string[]): string[] {
  const skipped = words.findIndex((each) => !/^(\$|npx|exec|sudo|[A-Z_]+=.*)$/.test(each));
  return skipped < 0 ? [] : words.slice(skipped);
}
