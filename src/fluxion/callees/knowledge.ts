import { ALIASES, LIBRARIES, type LibraryKnowledge } from "./libraries.js";

/** What a project adds in `headwater.fluxions.json`, or under `headwater.fluxions` in its package.json. */
export interface ProjectKnowledge {
  /** By the name that a library is imported by. */
  readonly libraries?: Readonly<Record<string, LibraryKnowledge>>;
  /** Packages to be compiled along with the program. */
  readonly packages?: readonly string[];
}

type Question = Exclude<keyof LibraryKnowledge, "writes">;

/** The lists of known callees, with a project's own. */
export class Knowledge {
  /** By path, of each library: the questions that are answered with yes. */
  readonly #said = new Map<string, Map<string, ReadonlySet<Question>>>();

  constructor(
    readonly project: ProjectKnowledge = {},
    /** A package of which nothing is known, whose calls are watched when they run elsewhere. */
    readonly watched: string | null = null,
  ) {}

  /** Whether a library is the watched package, or a file of it. */
  watches(library: string): boolean {
    return this.watched !== null && packageOf(library) === this.watched;
  }

  /** `library` is what is imported, `path` what is taken or made of it: `markdown-it` and `().render`. */
  says(question: Question, library: string, path: string): boolean {
    const said = this.#said.get(library)?.get(path) ?? this.#saidOf(library, path);
    return said.has(question);
  }

  #saidOf(library: string, path: string): ReadonlySet<Question> {
    const said = new Set<Question>();
    this.#said.set(library, (this.#said.get(library) ?? new Map()).set(path, said));
    for (const known of this.#of(library)) {
      const { writes: _, ...questions } = known;
      for (const [question, paths] of Object.entries(questions) as [Question, readonly string[]][]) {
        if (paths.some((each) => isMeant(each, path))) said.add(question);
      }
    }
    return said;
  }

  /** The arguments that a call writes to, counted from 0. */
  writes(library: string, path: string): readonly number[] {
    return this.#of(library).flatMap(({ writes }) => writes?.[path] ?? []);
  }

  /** Whether anything is known of a package, or of the package that a file belongs to: `highlight.js/lib/languages/css`. */
  knows(library: string): boolean {
    return this.#of(library).length > 0 || this.#of(packageOf(library)).length > 0;
  }

  #of(library: string): LibraryKnowledge[] {
    const name = library.replace(/^node:/, "");
    const known = [this.project.libraries?.[name], LIBRARIES[ALIASES[name] ?? name]];
    return known.filter((each) => each !== undefined);
  }

  isExpress(library: string): boolean {
    return (ALIASES[library] ?? library) === "express";
  }
}

/** `@scope/name` of `@scope/name/file`. */
export function packageOf(specifier: string): string {
  const [first = "", second = ""] = specifier.split("/");
  return first.startsWith("@") ? `${first}/${second}` : first;
}

function isMeant(written: string, path: string): boolean {
  return written === path || (written.endsWith("*") && path.startsWith(written.slice(0, -1)));
}
