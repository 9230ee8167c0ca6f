import { durableRun, roundsOf } from "./durable.js";
import type { Batches } from "./engine.js";
import { batchesOf, nexmarkEvents } from "./events.js";
import { QUERIES } from "./queries.js";

/**
 * A process that holds the events as columns only: beside the row objects of the loop by hand, a collection of garbage would
 * cost what they are, not what the service leaves behind. It is sent names of queries, and answers with what was measured.
 */
const [count = "", rows = ""] = process.argv.slice(2);
const rounds = roundsOf(columnsOf(Number(count), Number(rows)));

process.on("message", (name: string) => {
  const query = QUERIES[name];
  if (query === undefined) throw new Error(`There is no query ${name}.`);
  const emit = query.isWindowed === true ? "on window close" : "changes";
  void durableRun(query.sql, emit, rounds).then((run) => process.send?.(run));
});

function columnsOf(events: number, batchRows: number): Batches {
  const all = nexmarkEvents(events);
  return {
    person: batchesOf("person", all, batchRows),
    auction: batchesOf("auction", all, batchRows),
    bid: batchesOf("bid", all, batchRows),
    side_input: batchesOf("side_input", all, batchRows),
  };
}
