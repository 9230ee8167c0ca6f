import { Context } from "headwater";

export class Tree extends Context<number> {
  branches = this.children(Tree);
  rings = 0;

  grow() {
    this.rings += 1;
  }

  /** A chain of contexts, each below the one before. */
  async deepen(levels: number): Promise<void> {
    this.rings += 1;
    if (levels > 0) await this.branches(levels).deepen(levels - 1);
  }
}

/** A program with as many contexts as are wanted, side by side and below each other. */
export default class Forest extends Context {
  trees = this.children(Tree);
}
