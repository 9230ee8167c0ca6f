import { durableRun, type EngineRun, type Rounds, roundsOf } from "./durable.js";
import { type Batches, countedRun } from "./engine.js";
import { batchesOf, nexmarkEvents } from "./events.js";
import { QUERIES } from "./queries.js";

/** How queries are run: by their operators alone, over the whole input or as it comes, or in the service with a journal. */
export type Form = "once" | "standing" | "journal";

/** What to run, and whether all results are retained and counted. */
export interface Ask {
  readonly name: string;
  readonly isChecked: boolean;
}

/**
 * A process that holds the events as columns only: beside the row objects of the loop by hand, a collection of garbage would
 * cost what they are, not what the engine leaves behind. It is sent names of queries, and answers with what was measured.
 */
const [count = "", rows = "", form = ""] = process.argv.slice(2);
const runOf = runner(form as Form, () => columnsOf(Number(count), Number(rows)));

process.on("message", (ask: Ask) => {
  void runOf(ask).then((run) => process.send?.(run));
});

function runner(wanted: Form, columns: () => Batches): (ask: Ask) => Promise<EngineRun> {
  return wanted === "journal" ? durableRunner(roundsOf(columns())) : plainRunner(wanted, columns());
}

function queryOf(name: string) {
  const query = QUERIES[name];
  if (query === undefined) throw new Error(`There is no query ${name}.`);
  return {
    sql: query.sql,
    emit: query.isWindowed === true ? ("on window close" as const) : ("changes" as const),
  };
}

/** A process of its own: it holds the batches as bytes alone. */
function durableRunner(rounds: Rounds): (ask: Ask) => Promise<EngineRun> {
  return ({ name, isChecked }) => {
    const { sql, emit } = queryOf(name);
    return durableRun(sql, emit, rounds, isChecked);
  };
}

function plainRunner(wanted: "once" | "standing", batches: Batches): (ask: Ask) => Promise<EngineRun> {
  const made = new Map<string, () => EngineRun>();
  return async ({ name }) => {
    const { sql, emit } = queryOf(name);
    const run = made.get(name) ?? (await countedRun(sql, wanted, emit, batches));
    made.set(name, run);
    return run();
  };
}

function columnsOf(events: number, batchRows: number): Batches {
  const all = nexmarkEvents(events);
  return {
    person: batchesOf("person", all, batchRows),
    auction: batchesOf("auction", all, batchRows),
    bid: batchesOf("bid", all, batchRows),
    side_input: batchesOf("side_input", all, batchRows),
  };
}
