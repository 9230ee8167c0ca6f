import { HeadwaterError } from "../../errors.js";
import type { Fluxion, FluxionStream } from "./fluxion.js";

const HEADER = /^flx\s+([\w$]+)\s*(?:&\s*([\w$]+(?:\s*,\s*[\w$]+)*))?\s*(?:\{([^}]*)\})?$/;
const STREAM = /^(>>|->)\s*(.+?)\s*(?:\[([^\]]*)\])?$/;

/** Reads a program in the language of figure 1, as the printer writes it. */
export function parse(text: string): Fluxion[] {
  const lines = text.split("\n");
  const fluxions: Fluxion[] = [];
  let at = 0;
  const skipEmpty = () => {
    while (at < lines.length && (lines[at] ?? "").trim() === "") at++;
  };
  for (skipEmpty(); at < lines.length; skipEmpty()) {
    const header = HEADER.exec(lines[at] ?? "");
    if (header === null) throw wrong(at, "a fluxion begins with `flx NAME & GROUPS {CONTEXT}`");
    at++;
    const streams: FluxionStream[] = [];
    const begin = at;
    for (let found = STREAM.exec(lines[at] ?? ""); found !== null; found = STREAM.exec(lines[++at] ?? "")) {
      const [, arrow, to = "", message = ""] = found;
      if (to === "null") continue;
      streams.push({ kind: arrow === ">>" ? "start" : "post", to: list(to), message: list(message) });
    }
    if (at === begin)
      throw wrong(at, "after its first line, a fluxion has its streams: `>> NAME [VARIABLES]` or `-> null`");
    const code: string[] = [];
    for (; at < lines.length && !(lines[at] ?? "").startsWith("flx "); at++) {
      const line = lines[at] ?? "";
      if (line !== "" && !line.startsWith("  "))
        throw wrong(at, "the code of a fluxion is indented by two spaces");
      code.push(line.slice(2));
    }
    fluxions.push({
      name: header[1] ?? "",
      groups: list(header[2] ?? ""),
      context: list(header[3] ?? ""),
      streams,
      code: code.join("\n").trim(),
    });
  }
  checkNames(fluxions);
  return fluxions;
}

function checkNames(fluxions: readonly Fluxion[]): void {
  const names = new Set<string>();
  for (const { name } of fluxions) {
    if (names.has(name)) throw new HeadwaterError("HW-7014", `there are two fluxions with the name ${name}`);
    names.add(name);
  }
  for (const { name, streams } of fluxions) {
    for (const to of streams.flatMap((each) => each.to)) {
      if (!names.has(to))
        throw new HeadwaterError("HW-7014", `${name} sends to ${to}, and there is no such fluxion`);
    }
  }
}

function list(text: string): string[] {
  return text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

function wrong(line: number, expected: string): HeadwaterError {
  return new HeadwaterError("HW-7014", `line ${line + 1}: ${expected}`);
}
