/** The road as SQL: what comes in, what is known of vehicles and minutes, and what is told. See `rules.ts`. */

export const INPUTS = [
  `CREATE STREAM reports (
    at timestamp NOT NULL, vid bigint NOT NULL, speed bigint NOT NULL, xway bigint NOT NULL, lane bigint NOT NULL, dir bigint NOT NULL,
    segment bigint NOT NULL, position bigint NOT NULL, WATERMARK FOR at AS at)`,
  `CREATE STREAM balance_requests (vid bigint NOT NULL, id bigint NOT NULL)`,
  `CREATE STREAM expenditure_requests (vid bigint NOT NULL, id bigint NOT NULL, xway bigint NOT NULL, day bigint NOT NULL)`,
  `CREATE TABLE history (vid bigint, day bigint, xway bigint, tolls bigint NOT NULL, PRIMARY KEY (vid, day, xway))`,
];

/** Told is what is known at the moment of a report, so these queries are ordered. */
const ORDER = "WITH (coordination = 'order', reason = 'a vehicle is told what is known when it reports')";
const SAME_SEGMENT = (a: string, b: string) =>
  `${a}.xway = ${b}.xway AND ${a}.dir = ${b}.dir AND ${a}.segment = ${b}.segment`;
const SAME_PLACE = (a: string, b: string) =>
  `${a}.xway = ${b}.xway AND ${a}.dir = ${b}.dir AND ${a}.lane = ${b}.lane AND ${a}.position = ${b}.position`;

/** Queries and views by name, each behind those that it reads. */
export const DEFINITIONS: readonly (readonly [name: string, sql: string])[] = [
  // A vehicle reports every 30 seconds, so the report before is known by its time.
  [
    "entries",
    `SELECT at, vid, xway, dir, segment, lane FROM reports WHERE lane = 0
     UNION ALL
     SELECT r.at, r.vid, r.xway, r.dir, r.segment, r.lane
     FROM reports r JOIN reports p ON p.vid = r.vid AND p.at = r.at - INTERVAL '30 seconds'
     WHERE r.lane <> 0 AND r.segment <> p.segment`,
  ],
  // Averages of vehicles, then of minutes, then of five minutes. Vehicles report at most three times a minute.
  [
    "speeds",
    `SELECT window_end AS at, xway, dir, segment, sum(speed)::bigint / count(*) AS lav,
       coalesce(max(cars) FILTER (WHERE minute + INTERVAL '1 minute' = window_end), 0) AS cars
     FROM (
       SELECT window_end, minute, xway, dir, segment, sum(sixfold)::bigint / (6 * count(*)) AS speed, count(*) AS cars
       FROM (
         SELECT window_end, date_trunc('minute', at) AS minute, xway, dir, segment, vid, sum(speed)::bigint * 6 / count(*) AS sixfold
         FROM HOP(reports, at, INTERVAL '1 minute', INTERVAL '5 minutes') GROUP BY 1, 2, 3, 4, 5, 6
       ) vehicles GROUP BY 1, 2, 3, 4, 5
     ) minutes GROUP BY 1, 2, 3, 4 EMIT ON WINDOW CLOSE`,
  ],
  [
    "latest",
    `CREATE MATERIALIZED VIEW latest AS SELECT xway, dir, segment, at, lav, cars FROM (
       SELECT *, row_number() OVER (PARTITION BY xway, dir, segment ORDER BY at DESC) AS place FROM speeds) s WHERE place = 1`,
  ],
  // That a vehicle has reported a place four times is never taken back: nothing has to wait.
  [
    "stops",
    `SELECT a.at, a.xway, a.dir, a.segment, a.lane, a.position, a.vid
     FROM reports a JOIN reports b ON b.vid = a.vid AND ${SAME_PLACE("a", "b")}
       AND b.at BETWEEN a.at - INTERVAL '90 seconds' AND a.at - INTERVAL '30 seconds'
     GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING count(*) >= 3`,
  ],
  [
    "collisions",
    `SELECT a.at, a.xway, a.dir, a.segment
     FROM stops a JOIN stops b ON ${SAME_PLACE("a", "b")} AND b.at > a.at - INTERVAL '30 seconds' AND b.at <= a.at
     WHERE b.vid <> a.vid`,
  ],
  [
    "accidents",
    `SELECT window_end AS at, xway, dir, segment FROM TUMBLE(collisions, at, INTERVAL '1 minute')
     GROUP BY window_start, 1, 2, 3, 4 EMIT ON WINDOW CLOSE`,
  ],
  [
    "concerned",
    `SELECT a.at, a.xway, a.dir, CASE WHEN a.dir = 0 THEN a.segment - d.n ELSE a.segment + d.n END AS segment, a.segment AS accident
     FROM accidents a CROSS JOIN (VALUES (0), (1), (2), (3), (4)) AS d(n)`,
  ],
  [
    "warned",
    `CREATE MATERIALIZED VIEW warned AS SELECT xway, dir, segment, max(at) AS at FROM concerned GROUP BY 1, 2, 3`,
  ],
  [
    "ahead",
    `CREATE MATERIALIZED VIEW ahead AS SELECT xway, dir, segment, accident, max(at) AS at FROM concerned GROUP BY 1, 2, 3, 4`,
  ],
  [
    "entered",
    `SELECT e.at, e.vid, e.lane,
       CASE WHEN l.at = date_trunc('minute', e.at) THEN l.lav ELSE 0 END AS lav,
       CASE WHEN e.lane <> 4 AND l.at = date_trunc('minute', e.at) AND l.lav < 40 AND l.cars > 50 AND w.at IS DISTINCT FROM l.at
         THEN 2 * (l.cars - 50) * (l.cars - 50) ELSE 0 END AS toll
     FROM entries e
       LEFT JOIN latest FOR SYSTEM_TIME AS OF PROCTIME() AS l ON ${SAME_SEGMENT("l", "e")}
       LEFT JOIN warned FOR SYSTEM_TIME AS OF PROCTIME() AS w ON ${SAME_SEGMENT("w", "e")} ${ORDER}`,
  ],
  ["tolls", `SELECT vid, (extract(epoch FROM at))::bigint AS time, lav, toll FROM entered WHERE lane <> 4`],
  [
    "alerts",
    `SELECT e.vid, (extract(epoch FROM e.at))::bigint AS time, a.accident AS segment
     FROM entries e JOIN ahead FOR SYSTEM_TIME AS OF PROCTIME() AS a ON ${SAME_SEGMENT("a", "e")}
     WHERE e.lane <> 4 AND a.at = date_trunc('minute', e.at) ${ORDER}`,
  ],
  // A run has three hours, and an account has all tolls of it.
  [
    "accounts",
    `CREATE MATERIALIZED VIEW accounts AS SELECT vid, sum(charge)::bigint AS charged FROM (
       SELECT vid, CASE WHEN lane = 0 THEN 0 ELSE lag(toll) OVER (PARTITION BY vid ORDER BY at) END AS charge FROM entered
     ) charges GROUP BY vid WITH (state_retention = 'forever')`,
  ],
  [
    "balances",
    `SELECT r.id, coalesce(a.charged, 0) AS value
     FROM balance_requests r LEFT JOIN accounts FOR SYSTEM_TIME AS OF PROCTIME() AS a ON a.vid = r.vid ${ORDER}`,
  ],
  [
    "expenditures",
    `SELECT r.id, coalesce(h.tolls, 0) AS value
     FROM expenditure_requests r LEFT JOIN history FOR SYSTEM_TIME AS OF PROCTIME() AS h
       ON h.vid = r.vid AND h.day = r.day AND h.xway = r.xway ${ORDER}`,
  ],
];
