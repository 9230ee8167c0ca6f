import { Batch, type Cell } from "../columns/index.js";
import type { StreamDefinition } from "./definition.js";
import { Source } from "./source.js";

/** Why the rows of a stream or a table do not fit another definition of it; `null` if they do. */
export function whyNotRedefined(old: StreamDefinition, next: StreamDefinition): string | null {
  if (old.kind !== next.kind) return `it was a ${old.kind} and is to be a ${next.kind}`;
  const keyOf = ({ key, columns }: StreamDefinition) => key.map((i) => columns[i]?.name).join(", ");
  if (keyOf(old) !== keyOf(next)) return `its key was (${keyOf(old)}) and is to be (${keyOf(next)})`;
  for (const { name, type, nullable, scale } of next.columns) {
    const before = old.columns.find((spec) => spec.name === name);
    if (before === undefined) {
      if (!nullable) return `its new column "${name}" cannot be NULL, but its rows have no value for it`;
    } else if (before.type !== type || before.scale !== scale)
      return `its column "${name}" was ${before.type} and is to be ${type}`;
    else if (before.nullable && !nullable) return `its column "${name}" could be NULL before`;
  }
  return null;
}

/**
 * The same stream or table by another definition, with its rows, their numbers and how far its producers are. Columns that are gone
 * are dropped from the rows, and new ones are NULL in them.
 */
export function redefined(old: Source, definition: StreamDefinition): Source {
  const { channel, producers } = old;
  const made = new Source(definition, channel.log.first);
  const places = definition.columns.map(({ name }) =>
    old.definition.columns.findIndex((spec) => spec.name === name),
  );
  const converted = (batch: Batch): Batch => {
    const changed = Batch.empty(definition.columns, batch.rows, batch.weights !== null);
    for (let row = 0; row < batch.rows; row++) {
      const cells = places.map((place): Cell => (place < 0 ? null : batch.cell(row, place)));
      changed.append(cells, batch.weight(row));
    }
    return changed;
  };
  for (const segment of channel.log.all) {
    const { round, timeMs } = segment;
    made.channel.append(converted(channel.rowsOf(segment)), { round, timeMs, grown: new Map() });
  }
  if (channel.rows !== null) made.channel.rows?.upsert(converted(channel.rows.batch()));
  made.producers.load(producers.state);
  made.channel.advance(channel.watermark);
  return made;
}
