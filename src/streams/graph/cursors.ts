/** How far the outputs of a graph's streams have delivered. */
export class Cursors {
  readonly #cursors = new Map<string, { readonly stream: string; readonly position: number }>();

  get state(): readonly (readonly [name: string, stream: string, position: number])[] {
    return [...this.#cursors].map(([name, { stream, position }]) => [name, stream, position]);
  }

  set(name: string, stream: string, position: number | null): void {
    if (position === null) this.#cursors.delete(name);
    else this.#cursors.set(name, { stream, position });
  }

  /** The outputs of a stream. */
  of(stream: string): readonly string[] {
    return [...this.#cursors].filter(([, cursor]) => cursor.stream === stream).map(([name]) => name);
  }

  /** The first row that an output of the stream has not delivered; `null` if the stream has no outputs. */
  first(stream: string): number | null {
    let first: number | null = null;
    for (const cursor of this.#cursors.values())
      if (cursor.stream === stream && (first === null || cursor.position < first)) first = cursor.position;
    return first;
  }
}
