import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HeadwaterError } from "headwater";
import { openStreams } from "headwater/streams";
import { run } from "#src/host/run.js";
import { given } from "#src/state/bytes.js";
import { encodeBatch } from "#src/streams/columns/index.js";
import {
  DEFAULT_RETENTION,
  encodeCommand,
  type Push,
  type Retention,
  type StreamDefinition,
} from "#src/streams/graph/index.js";
import { Streams } from "#src/streams/service/contexts.js";
import { type Batches, inTurn, TIMES } from "./engine.js";
import { SCHEMAS, type TableName } from "./events.js";
import { DAY } from "./query.js";

/** What was measured: the CPU time from the first push to the last answer, and what the results add up to, if all were retained. */
export interface EngineRun {
  readonly cpuSeconds: number;
  readonly results: number | null;
}

/** So many events are in flight at a time, as of a producer that does not wait for each answer. */
const IN_FLIGHT = 8;
/** All results of a run that is checked; those of the others are dropped soon, as by default. */
const WHOLE = { bytes: 512 * 1024 * 1024, ms: null };
/** Queries whose state grows with their streams are refused otherwise. */
const KEPT = "WITH (state_retention = 'forever')";
const TENANT = "nexmark";

/** The batches of each round as a producer sends them: as columns in bytes. */
export type Rounds = readonly (readonly Push[])[];

export function roundsOf(batches: Batches): Rounds {
  const rounds: Push[][] = [];
  let round: Push[] = [];
  inTurn(
    batches,
    (stream: TableName, batch) =>
      round.push({ stream, producer: "", sequence: null, key: null, batch: encodeBatch(batch) }),
    () => {
      rounds.push(round);
      round = [];
    },
  );
  return rounds;
}

/**
 * A query in the context of its graph, with a journal that is written: a round is an event, whose batches, positions and results
 * are one atomic group. The results go into the result log. In a run that is checked all of them are retained, and counted in the end.
 */
export async function durableRun(
  sql: string,
  emit: "changes" | "on window close",
  rounds: Rounds,
  isChecked: boolean,
): Promise<EngineRun> {
  const directory = await mkdtemp(join(tmpdir(), "headwater-nexmark-"));
  const journal = join(directory, "journal");
  try {
    await define(journal, `${sql} EMIT ${emit.toUpperCase()} ${KEPT}`, isChecked ? WHOLE : DEFAULT_RETENTION);
    const service = await run(Streams, { journal, durability: "written" });
    const { graph } = service.root.tenants(TENANT);
    const before = process.cpuUsage();
    const waiting: Promise<unknown>[] = [];
    for (const pushes of rounds) {
      waiting.push(graph.carryOut(given(encodeCommand({ kind: "push", pushes })))); // as the service does
      if (waiting.length >= IN_FLIGHT) await waiting.shift();
    }
    for (const stream of ["person", "auction", "bid"])
      waiting.push(graph.carryOut(encodeCommand({ kind: "seal", stream, producer: "", upTo: null })));
    await Promise.all(waiting);
    const { user, system } = process.cpuUsage(before);
    await service.stop();
    return { cpuSeconds: (user + system) / 1e6, results: isChecked ? await resultsOf(journal) : null };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function define(journal: string, sql: string, retention: Retention): Promise<void> {
  const program = await run(Streams, { journal });
  await program.root.addTenant(TENANT);
  const { graph } = program.root.tenants(TENANT);
  const add = (definition: StreamDefinition) =>
    graph.carryOut(encodeCommand({ kind: "define stream", definition }));
  const shared = { retention, eventId: null };
  for (const name of ["person", "auction", "bid"] as const)
    await add({
      ...{ ...shared, kind: "stream", name, columns: SCHEMAS[name], key: [] },
      time: { column: TIMES[name], latenessMs: 0, idleMs: DAY },
    });
  await add({
    ...{ ...shared, kind: "table", name: "side_input", columns: SCHEMAS.side_input, key: [0], time: null },
  });
  await program.stop();
  const { service } = await openStreams({ journal });
  const streams = await service.tenant(TENANT);
  await streams.setQuotas({ stateBytes: 8 * 2 ** 30, retentionBytes: WHOLE.bytes });
  await streams.registerQuery("q", sql, { coordination: "order", retention });
  await service.close();
}

/** How many rows the results add up to, as far as all of them are retained. */
async function resultsOf(journal: string): Promise<number | null> {
  const { service } = await openStreams({ journal });
  try {
    const streams = await service.tenant(TENANT);
    let count = 0;
    for (let from = 1; ; ) {
      const { rows, next } = await streams.page("q", from);
      if (rows.length === 0) return count;
      for (const { weight } of rows) count += weight;
      from = next;
    }
  } catch (error) {
    if (error instanceof HeadwaterError && error.code === "HW-5405") return null;
    throw error;
  } finally {
    await service.close();
  }
}
