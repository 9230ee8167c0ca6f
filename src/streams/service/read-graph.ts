import type { EngineCopies, FollowedEngine } from "../../host/cluster-side.js";
import type { Ref } from "../../model/refs.js";
import type { Cell } from "../columns/index.js";
import { GraphEngine, type SnapshotTable, snapshot } from "../graph/index.js";
import type { Graph } from "./contexts.js";
import { type RowsPage, rowsOf, type ViewRows, viewOf } from "./graph-reads.js";

/** So long a read waits for the copy of this process before it is asked of the head. */
const WAIT_MS = 1000;

/**
 * What can be read of a graph. In a cluster, a process that has a copy of the graph reads that. A read of the present asks the head only how
 * many records there are, many reads at once with one question, and waits until the copy has as many; so it sees everything that was
 * acknowledged before it began, wherever that was. Rows by number are the same in every copy, so readers that go on at their number ask nothing.
 */
export class ReadGraph {
  readonly #graph: Ref<Graph>;
  readonly #copies: EngineCopies | null;
  readonly #context: string;
  /** The question that is asked next, when the head has answered the one before. */
  #next: Promise<number> | null = null;
  #asked: Promise<unknown> = Promise.resolve();

  constructor(graph: Ref<Graph>, copies: EngineCopies | null) {
    this.#graph = graph;
    this.#copies = copies;
    this.#context = String(graph);
  }

  /** Null: this process has no copy. */
  get copy(): GraphEngine | null {
    return engineOf(this.#followed);
  }

  /** Rows from a number on. */
  async rows(name: string, from: number, bytesMax: number): Promise<RowsPage> {
    const { copy } = this;
    if (copy === null || copy.nodes.channel(name) === null) return this.#graph.rows(name, from, bytesMax);
    return rowsOf(copy, name, from, bytesMax);
  }

  /** The same as of now. */
  async rowsNow(name: string, from: number, bytesMax: number): Promise<RowsPage> {
    const copy = await this.#present();
    return copy === null ? this.#graph.rows(name, from, bytesMax) : rowsOf(copy, name, from, bytesMax);
  }

  async view(
    name: string,
    from: readonly Cell[] | null,
    to: readonly Cell[] | null,
    rowsMax: number,
  ): Promise<ViewRows> {
    const copy = await this.#present();
    return copy === null ? this.#graph.view(name, from, to, rowsMax) : viewOf(copy, name, from, to, rowsMax);
  }

  async snapshot(names: readonly string[], bytesMax: number): Promise<readonly SnapshotTable[]> {
    const copy = await this.#present();
    return copy === null ? this.#graph.snapshot(names, bytesMax) : snapshot(copy, names, bytesMax);
  }

  get #followed(): FollowedEngine | null {
    return this.#copies?.of(this.#context, "engine") ?? null;
  }

  /** The copy, with everything that was acknowledged before the call; null if this process has none, or that is far behind. */
  async #present(): Promise<GraphEngine | null> {
    if (this.#followed === null) return null;
    const position = await this.#position();
    if (!this.#has(position)) await this.#reaching(position);
    const followed = this.#followed;
    return followed !== null && followed.position >= position ? engineOf(followed) : null;
  }

  #has(position: number): boolean {
    const followed = this.#followed;
    return followed === null || followed.position >= position;
  }

  #reaching(position: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timeout);
        stop();
        resolve();
      };
      const timeout = setTimeout(end, WAIT_MS);
      const stop =
        this.#copies?.onGrown((context) => {
          if (context === this.#context && this.#has(position)) end();
        }) ?? (() => {});
    });
  }

  /** How many records the graph has. A question that is on its way was asked too early for a new read. */
  #position(): Promise<number> {
    this.#next ??= this.#asked.then(() => {
      const asked = this.#graph.position();
      this.#next = null;
      this.#asked = asked.catch(() => {});
      return asked;
    });
    return this.#next;
  }
}

function engineOf(followed: FollowedEngine | null): GraphEngine | null {
  return followed?.engine instanceof GraphEngine ? followed.engine : null;
}
