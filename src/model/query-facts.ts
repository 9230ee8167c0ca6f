/** What a context class says of the standing queries that it holds, for the analysis of programs. */
export interface QueryFact {
  readonly name: string;
  readonly label: string;
  /** How it is carried out, and why. */
  readonly coordination: string;
}

const facts = new WeakMap<object, readonly QueryFact[]>();

export function tellQueryFacts(cls: object, told: readonly QueryFact[]): void {
  facts.set(cls, told);
}

/** By the class itself or one that it extends. */
export function queryFactsOf(cls: object): readonly QueryFact[] {
  for (let at: object | null = cls; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const found = facts.get(at);
    if (found !== undefined) return found;
  }
  return [];
}
