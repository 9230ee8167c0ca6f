import type { Batch } from "#src/streams/columns/index.js";
import { startQuery } from "#src/streams/operators/index.js";
import { planQuery } from "#src/streams/sql/index.js";
import { SCHEMAS, type TableName } from "./events.js";

export type Batches = Readonly<Record<TableName, readonly Batch[]>>;

/** A query of the engine over events that were read already; each call runs it from its beginning to its end. */
export async function engineOf(
  sql: string,
): Promise<(batches: Batches, consume: (batch: Batch) => void) => void> {
  const plan = await planQuery(sql, SCHEMAS);
  return (batches, consume) => {
    const query = startQuery(plan, consume);
    // In the order of time: the parts of the three tables come in turn.
    const tables = Object.keys(SCHEMAS) as TableName[];
    const most = Math.max(...tables.map((table) => batches[table].length));
    for (let i = 0; i < most; i++)
      for (const table of tables) {
        const batch = batches[table][Math.floor((i * batches[table].length) / most)];
        const isNew =
          i === 0 ||
          Math.floor(((i - 1) * batches[table].length) / most) !==
            Math.floor((i * batches[table].length) / most);
        if (batch !== undefined && isNew) query.push(table, batch);
      }
    query.end();
    if (query.errors.first !== null) throw new Error(query.errors.first.message);
  };
}
