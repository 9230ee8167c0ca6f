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

  /** Exceptions, made by moves. */
  readonly #moved = new Map<Placed, number>();

  constructor(
    hosts: Iterable<number>,
    /** How far down subtrees are spread. */
    readonly depth = 1,
  ) {
    this.#hosts = [...hosts];
  }

  get hosts(): readonly number[] {
    return this.#hosts;
  }

  /** A host is gone; others take over what it had. */
  remove(host: number): void {
    this.#hosts = this.#hosts.filter((each) => each !== host);
    for (const [context, at] of this.#moved) if (at === host) this.#moved.delete(context);
    this.#known = new WeakMap();
  }

  /** A context, and all that is below it, is on that host from now on. */
  move(context: Placed, host: number): void {
    for (const each of this.#moved.keys()) if (isBelow(each, context)) this.#moved.delete(each);
    this.#moved.set(context, host);
  }

  of(context: Placed): number {
    if (this.#moved.size > 0) {
      for (let at: Placed | null = context; at !== null; at = at.parent) {
        const host = this.#moved.get(at);
        if (host !== undefined) return host;
      }
    }
    let at = context;
    while (at.depth > this.depth && at.parent !== null) at = at.parent;
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

function isBelow(context: Placed, top: Placed): boolean {
  for (let at = context.parent; at !== null; at = at.parent) if (at === top) return true;
  return false;
}

/** FNV-1a, with its bits well mixed in the end. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad);
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
  return (bits ^ (bits >>> 15)) >>> 0;
}
