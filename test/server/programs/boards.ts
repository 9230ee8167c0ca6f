import { Context, expose, readonly, reads } from "headwater";

/** A program whose reads depend on contexts in every way: their own, contexts below, which there are, a context above. */

export const evaluated: string[] = [];

class Refused extends Error {
  override name = "Refused";
}

class Boards extends Context {
  boards = this.children(Board);
  scale = 1;

  rescale() {
    this.scale += 1;
  }

  async both(first: number, second: number, card: string) {
    await Promise.all([this.boards(first).grow(card, 3), this.boards(second).grow(card, 4)]);
  }

  @readonly async everything() {
    const found: Record<string, number> = {};
    for (const board of (await this.event.list(this.boards)).keys)
      found[board] = await this.boards(board).total();
    return found;
  }
}

class Card extends Context<string> {
  size = 0;

  grow(by: number) {
    this.size += by;
  }

  /** May change something, but does not. */
  nothing() {}

  @readonly read() {
    evaluated.push(String(this.key));
    return this.size;
  }

  @reads(Boards)
  @readonly
  scaled() {
    return this.size * this.event.read(Boards).scale;
  }
}

class Board extends Context<number> {
  cards = this.children(Card);

  async grow(card: string, by: number) {
    if (by > 90) throw new Refused(`${by} is too much`);
    await this.cards(card).grow(by);
  }

  async drop(card: string) {
    await this.event.delete(this.cards(card));
  }

  @readonly async total() {
    let total = 0;
    for (const key of (await this.event.list(this.cards)).keys) total += await this.cards(key).read();
    return total;
  }

  @readonly async names() {
    return [...(await this.event.list(this.cards)).keys];
  }

  @readonly async needs(card: string) {
    const size = await this.cards(card).read();
    if (size < 20) throw Object.assign(new Refused(`${card} is too small`), { size });
    return size;
  }
}

export const api = expose(Boards, {
  grow: (root, board: number, card: string, by: number) => root.boards(board).grow(card, by),
  nothing: (root, board: number, card: string) => root.boards(board).cards(card).nothing(),
  both: (root, first: number, second: number, card: string) => root.both(first, second, card),
  drop: (root, board: number, card: string) => root.boards(board).drop(card),
  rescale: (root) => root.rescale(),
  size: (root, board: number, card: string) => root.boards(board).cards(card).read(),
  scaled: (root, board: number, card: string) => root.boards(board).cards(card).scaled(),
  total: (root, board: number) => root.boards(board).total(),
  names: (root, board: number) => root.boards(board).names(),
  needs: (root, board: number, card: string) => root.boards(board).needs(card),
  everything: (root) => root.everything(),
});
export default Boards;
