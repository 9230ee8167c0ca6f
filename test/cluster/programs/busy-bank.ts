import { Context, outside, readonly } from "headwater";
import { column, Queries, query, stream } from "headwater/queries";
import { Account } from "./bank.js";

const note = outside("note", async (operation: string) => operation);

/** Something that must happen once, and so must what comes of it: a timer and an outside call. */
class BusyOperation extends Context<string> {
  times = 0;
  rung = 0;
  noted = 0;

  mark(): void {
    this.times += 1;
    this.event.after(20, this.ring);
    this.event.outside(note, this.key, this.notedDown);
  }

  ring(): void {
    this.rung += 1;
  }

  notedDown(): void {
    this.noted += 1;
  }

  @readonly
  read(): readonly [times: number, rung: number, noted: number] {
    return [this.times, this.rung, this.noted];
  }
}

/** A standing query over all transfers, whose results are numbered. */
class Statement extends Queries({
  transfers: stream({ operation: column.text, account: column.int }),
  booked: query({ operation: column.text, account: column.int }, "SELECT operation, account FROM transfers"),
}) {}

/** Moves money, and tells a client of each transfer. */
export default class BusyBank extends Context {
  accounts = this.children(Account);
  operations = this.children(BusyOperation);
  statement = this.child(Statement);
  transfers = 0;

  async once(operation: string, from: number, to: number, client: string): Promise<number> {
    await this.operations(operation).mark();
    await this.accounts(from).add(-1);
    await this.accounts(to).add(1);
    await this.statement.pushTransfers({ operation, account: from });
    this.transfers += 1;
    this.event.send(client, operation);
    return this.transfers;
  }

  @readonly
  async total(accounts: number): Promise<number> {
    let total = 0;
    for (let i = 0; i < accounts; i++) total += await this.accounts(i).read();
    return total;
  }

  @readonly
  count(): number {
    return this.transfers;
  }
}
