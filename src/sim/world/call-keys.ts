/** Each attempt at one outside call must have the same key, whatever has crashed in between. */
export class CallKeys {
  readonly #known = new Map<string, string>();

  /** Where a call stands, without the history that its key begins with. */
  positionIn(key: string, broken: (error: Error) => void): string {
    const position = key.slice(key.indexOf("/") + 1);
    const known = this.#known.get(position) ?? key;
    this.#known.set(position, known);
    if (known !== key) broken(new Error(`an outside call has the keys ${known} and ${key}`));
    return position;
  }
}
