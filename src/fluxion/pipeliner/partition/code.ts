import { listed } from "../../listed.js";
import { isInside, Lines, type Node, type SourceModule } from "../../source/index.js";
import type { WholeProgram } from "../whole/index.js";
import type { Edge } from "./assemble.js";
import type { Territory } from "./territory.js";

interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The source texts of parts, with the listeners in them replaced by the streams that lead to them. */
export class PartTexts {
  readonly #whole: WholeProgram;
  /** Streams that show in a file: with the listener or the rupture point in it. */
  readonly #edges = new Map<SourceModule, Edge[]>();
  readonly #lines = new Map<SourceModule, Lines>();

  constructor(whole: WholeProgram, edges: readonly Edge[]) {
    this.#whole = whole;
    for (const edge of edges) {
      const nodes = edge.to.node === null ? [edge.rupture.node] : [edge.rupture.node, edge.to.node];
      const modules = new Set(nodes.map((node) => whole.engine.moduleOf(node)));
      for (const module of modules) listed(this.#edges, module).push(edge);
    }
  }

  of(part: Territory): string {
    if (part.node !== null) return this.#textOf(part, part.node);
    const modules = [...this.#whole.program.modules.values()];
    const texts = modules.map((module) => this.#textOf(part, module.syntax).trim());
    if (modules.length === 1) return texts[0] ?? "";
    return modules.map(({ path }, i) => `// ${path.split("/").pop()}\n${texts[i]}`).join("\n\n");
  }

  #textOf(part: Territory, node: Node): string {
    const module = this.#whole.engine.moduleOf(node);
    const { text } = module;
    const isFile = node.type === "Program";
    const start = isFile ? 0 : node.start;
    const end = isFile ? text.length : node.end;
    const lines = this.#linesOf(module);
    const indentation = isFile ? "" : lines.indentation(start);
    let code = "";
    let at = start;
    const changes: Change[] = [];
    for (const edge of this.#edges.get(module) ?? []) {
      const { rupture, to } = edge;
      const shows = overlaps(rupture.node, start, end) || (to.node !== null && overlaps(to.node, start, end));
      if (shows) changes.push(...changesFor(this.#whole, module, part, edge));
    }
    for (const change of changes.sort((a, b) => a.start - b.start)) {
      if (change.start < at || change.end > end) continue;
      code += lines.without(indentation, at, change.start) + change.text;
      at = change.end;
    }
    return code + lines.without(indentation, at, end);
  }

  #linesOf(module: SourceModule): Lines {
    const known = this.#lines.get(module) ?? new Lines(module);
    this.#lines.set(module, known);
    return known;
  }
}

function changesFor(
  whole: WholeProgram,
  module: SourceModule,
  part: Territory,
  { from, to, rupture }: Edge,
): Change[] {
  const listener = to.node;
  if (listener === null || listener === part.node || whole.listeners.get(listener)?.only !== true) return [];
  if (from !== part && part.node !== null && !isInside(listener, part.node)) return [];
  const stream = `${from.node === null || rupture.kind === "start" ? ">>" : "->"} ${to.name}`;
  const own = whole.engine.moduleOf(listener) === module;
  if (listener.type !== "FunctionDeclaration") return own ? [{ ...range(listener), text: stream }] : [];
  const named = rupture.node.arguments.flatMap((each): Change[] => {
    const isName = each.type === "Identifier" && each.name === listener.id?.name;
    return isName && whole.engine.moduleOf(rupture.node) === module ? [{ ...range(each), text: stream }] : [];
  });
  return own ? [{ ...lineOf(module.text, listener), text: "" }, ...named] : named;
}

function overlaps(node: Node, start: number, end: number): boolean {
  return node.start < end && start < node.end;
}

function range({ start, end }: Node): { start: number; end: number } {
  return { start, end };
}

/** A declaration with the rest of its line. */
function lineOf(text: string, { start, end }: Node): { start: number; end: number } {
  return { start, end: end + (/^[ \t]*;?[ \t]*\n?/.exec(text.slice(end))?.[0].length ?? 0) };
}
