import { Context, readonly } from "headwater";

/** How long events take; a test has them take longer. */
export const pace = { wait: async (): Promise<void> => {} };

/** A message as it was taken: which event sent it, as what, and which event took it. */
export interface Taken {
  readonly from: string;
  readonly sentBy: number;
  readonly name: string;
  readonly takenBy: number;
}

export class Desk extends Context<number> {
  balance = 100;
  taken: Taken[] = [];

  /** Sends two coins to a desk of another branch. */
  async give(operation: string, to: string, desk: number): Promise<number> {
    this.balance -= 2;
    await pace.wait();
    const other = this.event.peer(Branch, to).desks(desk);
    for (const n of [0, 1])
      this.event
        .send(other)
        .receive(`${operation}/${n}`, this.event.node, Number(this.key), this.event.ticket);
    return this.event.ticket;
  }

  /** Takes a coin, and says so. */
  async receive(name: string, from: string, desk: number, sentBy: number): Promise<void> {
    await pace.wait();
    this.balance += 1;
    this.#note(name, sentBy);
    const other = this.event.peer(Branch, from).desks(desk);
    this.event.send(other).thank(`${name}/thanks`, this.event.ticket);
  }

  async thank(name: string, sentBy: number): Promise<void> {
    await pace.wait();
    this.#note(name, sentBy);
  }

  @readonly
  read(): { readonly balance: number; readonly taken: readonly Taken[] } {
    return { balance: this.balance, taken: this.taken };
  }

  #note(name: string, sentBy: number): void {
    const from = this.event.sender?.node ?? "";
    this.taken.push({ from, sentBy, name, takenBy: this.event.ticket });
  }
}

/** A branch sends coins to others; no coin is lost or made. */
export class Branch extends Context {
  desks = this.children(Desk);

  @readonly
  async all(desks: number): Promise<{ readonly balance: number; readonly taken: readonly Taken[] }> {
    let balance = 0;
    const taken: Taken[] = [];
    for (let i = 0; i < desks; i++) {
      const desk = await this.desks(i).read();
      balance += desk.balance;
      taken.push(...desk.taken);
    }
    return { balance, taken };
  }
}

export const BRANCHES = ["North", "East", "West"] as const;

/** Each has a log of its own; North has the cluster's own. */
export const LOGS = { e: ["East"], w: ["West"] };

export default { North: Branch, East: Branch, West: Branch };
