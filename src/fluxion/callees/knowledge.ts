import { ALIASES, LIBRARIES, type LibraryKnowledge } from "./libraries.js";

/** What a project adds in `headwater.fluxions.json`, or under `headwater.fluxions` in its package.json. */
export interface ProjectKnowledge {
  /** By the name that a library is imported by. */
  readonly libraries?: Readonly<Record<string, LibraryKnowledge>>;
  /** Packages to be compiled along with the program. */
  readonly packages?: readonly string[];
}

type Question = keyof LibraryKnowledge;

/** The lists of known callees, with a project's own. */
export class Knowledge {
  constructor(readonly project: ProjectKnowledge = {}) {}

  /** `library` is what is imported, `path` what is taken or made of it: `markdown-it` and `().render`. */
  says(question: Question, library: string, path: string): boolean {
    const name = library.replace(/^node:/, "");
    return [this.project.libraries?.[name], LIBRARIES[ALIASES[name] ?? name]].some((known) =>
      known?.[question]?.some(
        (each) => each === path || (each.endsWith("*") && path.startsWith(each.slice(0, -1))),
      ),
    );
  }

  knows(library: string): boolean {
    const name = library.replace(/^node:/, "");
    return this.project.libraries?.[name] !== undefined || LIBRARIES[ALIASES[name] ?? name] !== undefined;
  }

  isExpress(library: string): boolean {
    return (ALIASES[library] ?? library) === "express";
  }
}
