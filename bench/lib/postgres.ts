import { join } from "node:path";
import { Client } from "pg";
import { lesserUser, PeerHome } from "./peer-process.js";
import type { Subject } from "./subject.js";
import { spin } from "./work.js";

const SETTINGS = { fsync: "on", synchronous_commit: "on", full_page_writes: "on" };
const USER = "bench";

/** Commits of different connections share a sync, so there must be many. On two cores, 64 were no faster than 32. */
const CONNECTIONS = 32;

const NOBODY = -1;
const TABLE = "CREATE TABLE counters (id int PRIMARY KEY, count int NOT NULL) WITH (fillfactor = 50)";
const ROWS = "INSERT INTO counters SELECT id, 0 FROM generate_series(0, $1::int - 1) AS id";
const UPDATE = "UPDATE counters SET count = count + 1 WHERE id = $1 RETURNING count";
const UPDATE_MANY = `UPDATE counters SET count = count + given.n FROM unnest($1::int[], $2::int[]) AS given(id, n)
  WHERE counters.id = given.id RETURNING counters.id, counters.count`;

/**
 * One transaction per event. A counter always has the same connection, so that no two wait for the lock of one row, and
 * a connection is sent its next statement without waiting for the reply to the one before.
 */
export async function startPostgres(contexts: number, folder: string): Promise<Subject> {
  const { clients, subject } = await startCounters(contexts, folder, CONNECTIONS);
  const ask = (client: Client, counter: number) =>
    client.query({ name: "update", text: UPDATE, values: [counter] });
  await Promise.all(clients.map((client) => ask(client, NOBODY))); // so that each has it prepared
  return {
    ...subject,
    call(counter, work) {
      spin(work);
      return ask(clients[counter % clients.length] as Client, counter);
    },
  };
}

interface Asked {
  readonly counter: number;
  resolve(count: number): void;
  reject(error: unknown): void;
}

/** The application gathers what comes while a statement is on its way, and makes one statement of it. */
export async function startPostgresBatched(contexts: number, folder: string): Promise<Subject> {
  const { clients, subject } = await startCounters(contexts, folder, 1);
  const client = clients[0] as Client;
  let waiting: Asked[] = [];
  let isBusy = false;

  const goOn = async () => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await updateMany(client, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isBusy = false;
  };

  return {
    ...subject,
    call(counter, work) {
      spin(work);
      if (!isBusy) {
        isBusy = true;
        setImmediate(goOn);
      }
      return new Promise((resolve, reject) => waiting.push({ counter, resolve, reject }));
    },
  };
}

/** Each caller gets the count as its own event left it, as if the events had come one by one. */
async function updateMany(client: Client, batch: readonly Asked[]): Promise<void> {
  const added = new Map<number, number>();
  for (const { counter } of batch) added.set(counter, (added.get(counter) ?? 0) + 1);
  const values = [[...added.keys()], [...added.values()]];
  const { rows } = await client.query<{ id: number; count: number }>({
    name: "update-many",
    text: UPDATE_MANY,
    values,
  });
  const counts = new Map(rows.map(({ id, count }) => [id, count - (added.get(id) ?? 0)]));
  for (const { counter, resolve } of batch) {
    const count = (counts.get(counter) ?? Number.NaN) + 1;
    counts.set(counter, count);
    resolve(count);
  }
}

async function startCounters(contexts: number, folder: string, connections: number) {
  const { clients, stop } = await startServer(folder, connections, async (first) => {
    await first.query(TABLE);
    await first.query(ROWS, [contexts]);
  });
  const first = clients[0] as Client;
  const counted = async () =>
    Number((await first.query("SELECT sum(count) AS sum FROM counters")).rows[0]?.sum);
  return { clients, subject: { counted, stop } };
}

/** A server of its own, in a directory of its own, and connections to it; `setUp` makes its tables. */
export async function startServer(
  folder: string,
  connections: number,
  setUp: (first: Client) => Promise<void>,
) {
  const home = await PeerHome.open(lesserUser());
  const clients: Client[] = [];
  try {
    const data = join(home.directory, "data");
    const init = ["-D", data, "-U", USER, "--auth=trust", "--locale=C", "--encoding=UTF8"];
    await home.run(join(folder, "initdb"), init);
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const where = ["-D", data, "-k", home.directory, "-c", "listen_addresses="];
    await home.serve(join(folder, "postgres"), [...where, ...settings]);
    while (clients.length < connections) clients.push(await connect(home.directory));
    const first = clients[0] as Client;
    await check(first);
    await setUp(first);
    const stop = async () => {
      await Promise.all(clients.map((client) => client.end()));
      await home.close();
    };
    return { clients, stop };
  } catch (error) {
    for (const client of clients) await client.end();
    await home.close();
    throw error;
  }
}

async function connect(socketFolder: string): Promise<Client> {
  const client = new Client({ host: socketFolder, user: USER, database: "postgres", pipeline: true });
  client.on("error", () => {}); // the statements on their way fail with it, that is enough
  await client.connect();
  return client;
}

/** A figure of a PostgreSQL that does not sync would be worth nothing here. */
async function check(client: Client): Promise<void> {
  for (const [name, value] of Object.entries(SETTINGS)) {
    const { rows } = await client.query<Record<string, string>>(`SHOW ${name}`);
    if (rows[0]?.[name] !== value)
      throw new Error(`PostgreSQL runs with ${name} ${rows[0]?.[name]} instead of ${value}.`);
  }
}
