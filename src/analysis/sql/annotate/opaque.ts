import { wavering } from "../sign.js";
import { addOrigins, blurred, type ColumnFacts, PLAIN, union } from "../value.js";

/** A value about which nothing is known but what it is made of. */
export function opaque(values: readonly ColumnFacts[]): ColumnFacts {
  const origins = values.flatMap((value) => blurred(value, false));
  return addOrigins(
    {
      ...PLAIN,
      moves: wavering(...values.map(({ moves }) => moves)),
      nulls: "any",
      lacks: values.some(({ lacks }) => lacks),
      minds: union(...values.map(({ minds }) => minds)),
      constant: values.every(({ constant }) => constant),
      what: values.find(({ what }) => what !== null)?.what ?? null,
    },
    origins,
  );
}
