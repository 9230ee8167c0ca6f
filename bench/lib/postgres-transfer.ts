import type { Client } from "pg";
import { BALANCE, checkBalances, SKEW } from "./bank.js";
import { startServer } from "./postgres.js";
import type { Subject } from "./subject.js";
import { nextTransfer, Zipf } from "./zipf.js";

const CONNECTIONS = 32;

const TABLE = `CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL CHECK (balance >= 0), asked int NOT NULL)
  WITH (fillfactor = 50)`;
const ROWS = "INSERT INTO accounts SELECT id, $2::int, 0 FROM generate_series(0, $1::int - 1) AS id";
const WITHDRAW = "UPDATE accounts SET balance = balance - $2, asked = asked + 1 WHERE id = $1";
const DEPOSIT = "UPDATE accounts SET balance = balance + $2 WHERE id = $1";
const SUM = "SELECT sum(balance) AS balances, sum(asked) AS asked FROM accounts";

/**
 * One transaction with two rows per transfer, its four statements sent without waiting in between. The lower id is the
 * account that is used more: it is locked first, so that there are no deadlocks, and it decides on the connection, so that
 * few transactions wait for a lock of another one.
 */
export async function startPostgresTransfers(accounts: number, folder: string): Promise<Subject> {
  const { clients, stop } = await startServer(folder, CONNECTIONS, async (first) => {
    await first.query(TABLE);
    await first.query(ROWS, [accounts, BALANCE]);
  });
  const zipf = new Zipf(accounts, SKEW);
  return {
    async call() {
      const { from, to } = nextTransfer(zipf);
      const client = clients[Math.min(from, to) % clients.length] as Client;
      const withdraw = { name: "withdraw", text: WITHDRAW, values: [from, 1] };
      const deposit = { name: "deposit", text: DEPOSIT, values: [to, 1] };
      const [one, other] = from < to ? [withdraw, deposit] : [deposit, withdraw];
      await Promise.all([
        client.query("BEGIN"),
        client.query(one),
        client.query(other),
        client.query("COMMIT"),
      ]);
    },
    async counted() {
      const { rows } = await (clients[0] as Client).query<{ balances: string; asked: string }>(SUM);
      checkBalances(Number(rows[0]?.balances), accounts);
      return Number(rows[0]?.asked);
    },
    stop,
  };
}
