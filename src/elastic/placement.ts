/**
 * On which host a context is. Subtrees below the root are spread by hashing: each goes to the host that ranks highest
 * for it, so that a host that comes or goes moves only what it takes over or had. Contexts further down stay with their
 * parents.
 */

/** What is placed: a node of the tree of names. */
export interface Placed {
  readonly node: string;
  readonly depth: number;
  readonly parent: this | Placed | null;
  toString(): string;
}

export class Placement {
  #hosts: readonly number[];
  /** Where the subtrees are that somebody has asked for. */
  #known = new WeakMap<Placed, number>();

  constructor(hosts: Iterable<number>) {
    this.#hosts = [...hosts];
  }

  get hosts(): readonly number[] {
    return this.#hosts;
  }

  /** A host is gone; others take over what it had. */
  remove(host: number): void {
    this.#hosts = this.#hosts.filter((each) => each !== host);
    this.#known = new WeakMap();
  }

  of(context: Placed): number {
    let at = context;
    while (at.depth > 1 && at.parent !== null) at = at.parent;
    let host = this.#known.get(at);
    if (host === undefined) {
      host = this.#best(`${at.node} ${at}`);
      this.#known.set(at, host);
    }
    return host;
  }

  #best(name: string): number {
    let [best, rank] = [0, -1];
    for (const host of this.#hosts) {
      const own = hash(`${host} ${name}`);
      if (own > rank) [best, rank] = [host, own];
    }
    return best;
  }
}

/** FNV-1a, with its bits well mixed in the end. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}
