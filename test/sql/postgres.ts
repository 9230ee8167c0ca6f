import { join } from "node:path";
import { Client, type QueryArrayResult } from "pg";
import {
  folderWith,
  lesserUser,
  newestFirst,
  PeerHome,
  programFolders,
} from "../../bench/lib/peer-process.js";
import { needed } from "../needed.js";

const USER = "headwater";
const VERSIONS = "/usr/lib/postgresql";

/** A PostgreSQL with nothing in it, in UTC and with texts in the order of their bytes, that ends with the test. */
export interface Postgres {
  readonly client: Client;
  /** The rows of an answer, each value as PostgreSQL writes it. */
  ask(sql: string): Promise<QueryArrayResult<(string | null)[]>>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<Postgres> {
  await needed(["initdb", "pg_ctlcluster"], "postgresql");
  const versions = newestFirst(VERSIONS).map((version) => join(VERSIONS, version, "bin"));
  const folder = folderWith(["initdb", "postgres"], [...versions, ...programFolders()]);
  if (folder === undefined) throw new Error(`there is no initdb in ${VERSIONS} or on the PATH`);
  const home = await PeerHome.open(lesserUser());
  try {
    const data = join(home.directory, "data");
    const init = ["-D", data, "-U", USER, "--auth=trust", "--locale=C", "--encoding=UTF8", "--no-sync"];
    await home.run(join(folder, "initdb"), init);
    const settings = ["listen_addresses=", "fsync=off", "timezone=UTC", "shared_buffers=8MB"];
    const where = ["-D", data, "-k", home.directory];
    await home.serve(join(folder, "postgres"), [...where, ...settings.flatMap((each) => ["-c", each])]);
    const client = new Client({ host: home.directory, user: USER, database: "postgres" });
    await client.connect();
    const types = { getTypeParser: () => (value: string) => value };
    return {
      client,
      ask: (text) => client.query<(string | null)[]>({ text, rowMode: "array", types }),
      async stop() {
        await client.end();
        await home.close();
      },
    };
  } catch (error) {
    await home.close();
    throw error;
  }
}
