import { join } from "node:path";
import { folderWith, newestFirst, programFolders } from "./peer-process.js";
import { startPostgres, startPostgresBatched } from "./postgres.js";
import { startRedis } from "./redis.js";
import type { Case } from "./subject.js";

/** Where Debian and Ubuntu keep PostgreSQL, one folder for each version. */
const POSTGRES_VERSIONS = "/usr/lib/postgresql";

interface Peers {
  readonly cases: readonly Pick<Case, "name" | "journal" | "start">[];
  /** One sentence for each peer that cannot be measured. */
  readonly missing: readonly string[];
}

/** The databases that are installed here, each as it is used when no reply may be lost. */
export function findPeers(folders = programFolders(), postgresVersions = POSTGRES_VERSIONS): Peers {
  const cases: Pick<Case, "name" | "journal" | "start">[] = [];
  const missing: string[] = [];
  const redis = folderWith(["redis-server"], folders);
  if (redis === undefined) missing.push(sentence("Redis", "redis-server"));
  else {
    const start = (contexts: number) => startRedis(contexts, redis);
    cases.push({ name: "redis-incr-aof-always", journal: "aof", start });
  }
  const { folder: postgres, missing: noPostgres } = findPostgres(folders, postgresVersions);
  missing.push(...noPostgres);
  if (postgres !== undefined) {
    const update = (contexts: number) => startPostgres(contexts, postgres);
    const batched = (contexts: number) => startPostgresBatched(contexts, postgres);
    cases.push({ name: "postgres-update", journal: "wal", start: update });
    cases.push({ name: "postgres-batched", journal: "wal", start: batched });
  }
  return { cases, missing };
}

/** Where the programs of the newest PostgreSQL are, or a sentence that says that there is none. */
export function findPostgres(folders = programFolders(), postgresVersions = POSTGRES_VERSIONS) {
  const versions = newestFirst(postgresVersions).map((version) => join(postgresVersions, version, "bin"));
  const folder = folderWith(["initdb", "postgres"], [...versions, ...folders]);
  return { folder, missing: folder === undefined ? [sentence("PostgreSQL", "postgresql")] : [] };
}

function sentence(peer: string, pkg: string): string {
  return `${peer} is not installed and was left out; to install it: apt-get install ${pkg}`;
}
