import type { Random } from "../../random.js";
import { type Cell, column, type Schema } from "../columns/index.js";
import type { StreamDefinition } from "../graph/index.js";

const LATENESS_MS = 3000;
export const PRODUCERS = ["a", "b"] as const;
export const NAMES = ["s", "r"] as const;
const RETENTION = { bytes: 1e9, ms: null };

/** The stream that all queries begin with. */
export const EVENTS: Schema = [
  column("k", "int", false),
  column("g", "text", false),
  column("v", "int", false),
  column("ts", "timestamp", false),
];

/** The streams of a scene, whose producers may seal the partitions of some columns. */
export function streamsOf({ sealedOn }: Pick<Scene, "sealedOn">): readonly StreamDefinition[] {
  const columns = sealedOn.map((name) => EVENTS.findIndex((spec) => spec.name === name));
  const seals = { columns, producers: PRODUCERS, keepMs: 1e12, holdBytes: 1e9 };
  return NAMES.map((name) => ({
    ...{ kind: "stream", name, columns: EVENTS, key: [], eventId: null, retention: RETENTION },
    time: { column: 3, latenessMs: LATENESS_MS, idleMs: 1e9 },
    ...(columns.length === 0 ? {} : { seals }),
  }));
}

/** One row of one producer. A producer's rows come in its order. */
export interface Sent {
  readonly stream: string;
  readonly producer: string;
  readonly cells: readonly Cell[];
}

/** A graph of queries, each with its SQL, and the rows of all producers. */
export interface Scene {
  readonly queries: readonly { readonly name: string; readonly sql: string }[];
  readonly sent: readonly Sent[];
  /** The columns by which producers seal partitions of all streams; none if they do not. */
  readonly sealedOn: readonly string[];
}

export function generate(random: Random): Scene {
  const queries: { name: string; sql: string; columns: readonly string[] }[] = [];
  for (let i = 0; i < 1 + random.int(3); i++) {
    const above = queries.length > 0 && random.chance(0.4) ? random.pick(queries) : null;
    const made = above === null ? overStreams(random) : overQuery(above, random);
    queries.push({ name: `q${i}`, ...made });
  }
  const sent = rowsOf(random);
  const sealedOn = random.pick([[], ["k"], ["g"], ["k", "g"]]);
  return { queries: queries.map(({ name, sql }) => ({ name, sql })), sent, sealedOn };
}

interface Made {
  readonly sql: string;
  readonly columns: readonly string[];
}

function overStreams(random: Random): Made {
  const s = random.pick(NAMES);
  const n = 1 + random.int(3);
  const window = `TUMBLE(${s}, ts, INTERVAL '${5 + 5 * random.int(2)} seconds')`;
  const made: readonly (readonly [sql: string, columns: string])[] = [
    [`SELECT k, g, v FROM ${s} WHERE v > ${n}`, "k g v"],
    [`SELECT k, v FROM s UNION ALL SELECT k, v FROM r WHERE v < ${n}`, "k v"],
    [`SELECT a.k, a.v FROM s a JOIN r b ON a.k = b.k AND a.v <= b.v`, "k v"],
    [`SELECT DISTINCT k, g FROM ${s}`, "k g"],
    [`SELECT k FROM ${s} GROUP BY k HAVING count(*) > ${n}`, "k"],
    [`SELECT k FROM ${s} GROUP BY k HAVING count(*) < ${n + 1}`, "k"],
    [`SELECT g, k FROM ${s} GROUP BY g, k HAVING max(v) >= ${n}`, "g k"],
    [`SELECT k, count(*) AS v FROM ${s} GROUP BY k`, "k v"],
    [`SELECT k, max(v) AS v FROM ${s} GROUP BY k`, "k v"],
    [`SELECT k, v FROM s WHERE NOT EXISTS (SELECT FROM r WHERE r.k = s.k)`, "k v"],
    [`SELECT k, g FROM s WHERE NOT EXISTS (SELECT FROM r WHERE r.k = s.k AND r.g = s.g)`, "k g"],
    [
      `SELECT k, g, count(*) AS v FROM (SELECT k, g FROM s UNION ALL SELECT k, g FROM r) x GROUP BY k, g`,
      "k g v",
    ],
    [`SELECT s.k, r.v FROM s LEFT JOIN r ON s.k = r.k AND s.v = r.v`, "k v"],
    [`SELECT k, v FROM ${s} ORDER BY v DESC, k LIMIT ${n}`, "k v"],
    [`SELECT DISTINCT ON (k) k, v FROM ${s} ORDER BY k, v`, "k v"],
    [`SELECT window_start, k, count(*) AS v FROM ${window} GROUP BY 1, 2`, "window_start k v"],
    [`SELECT window_start, k FROM ${window} GROUP BY 1, 2 HAVING count(*) < ${n + 1}`, "window_start k"],
    [`SELECT ts, k, v FROM ${s} WHERE v > ${n}`, "ts k v"],
    [`SELECT window_end AS ts, k, sum(v)::bigint AS v FROM ${window} GROUP BY window_start, 1, 2`, "ts k v"],
  ];
  const [sql, columns] = random.pick(made);
  return { sql, columns: columns.split(" ") };
}

function overQuery({ name, columns }: { name: string; columns: readonly string[] }, random: Random): Made {
  const n = 1 + random.int(3);
  const made: readonly Made[] = [
    { sql: `SELECT ${columns.join(", ")} FROM ${name} WHERE k <> ${n}`, columns },
    { sql: `SELECT DISTINCT k FROM ${name}`, columns: ["k"] },
    { sql: `SELECT k, count(*) AS v FROM ${name} GROUP BY k`, columns: ["k", "v"] },
    { sql: `SELECT k FROM ${name} GROUP BY k HAVING count(*) > ${n}`, columns: ["k"] },
    { sql: `SELECT s.k, s.v FROM ${name} q JOIN s ON q.k = s.k`, columns: ["k", "v"] },
  ];
  const window = `TUMBLE(${name}, ts, INTERVAL '${5 + 5 * random.int(3)} seconds')`;
  const windowed: readonly Made[] = [
    {
      sql: `SELECT window_end AS ts, k, count(*) AS v FROM ${window} GROUP BY window_start, 1, 2`,
      columns: ["ts", "k", "v"],
    },
    { sql: `SELECT window_start, k FROM ${window} GROUP BY 1, 2 HAVING max(v) < ${n}`, columns: ["k"] },
  ];
  return random.pick(columns.includes("ts") ? [...made, ...windowed] : made);
}

/** Rows whose times are as late as the streams allow, never later. */
export function rowsOf(random: Random, keys = 4, most = 8): Sent[] {
  const sent: Sent[] = [];
  for (const stream of NAMES)
    for (const producer of PRODUCERS) {
      let greatest = 0;
      for (let i = 0; i < 2 + random.int(most - 1); i++) {
        const at = Math.max(0, greatest - LATENESS_MS + 1000 * random.int(8));
        greatest = Math.max(greatest, at);
        const cells = [random.int(keys), random.pick(["x", "y"]), random.int(5), at];
        sent.push({ stream, producer, cells });
      }
    }
  return sent;
}
