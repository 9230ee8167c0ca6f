import type { Refused } from "./answers.js";
import type { Channel } from "./channel.js";
import type { QueryDefinition } from "./definition.js";
import type { GraphMoment } from "./moment.js";
import type { GraphNodes } from "./nodes.js";
import type { QueryNode } from "./query-node.js";

/**
 * What a new query is given of the past. A stream begins now, or with what its log retains if the query asks for it. A table or
 * a view begins with the rows that it holds: a query that joins it must find them, and rows that are taken back later must have
 * been there. The results of a query that takes rows back, and keeps no view of them, can be read from their beginning only.
 */
export function unready({ inputs }: QueryDefinition, nodes: GraphNodes): Refused | null {
  for (const name of inputs) {
    const channel = nodes.channel(name);
    if (channel === null || channel.rows !== null || nodes.isAppendOnly(name) || channel.isWhole) continue;
    return {
      code: "HW-5403",
      message: `"${name}" takes rows back that it gave before, and its first ones are not retained any more. Define it as a materialized view to build on it.`,
    };
  }
  return null;
}

/** Feeds a new query, in rounds as they came. */
export function backfill(node: QueryNode, nodes: GraphNodes, { round, timeMs, grown }: GraphMoment): void {
  const { inputs, backfill: asked } = node.definition;
  const moment: GraphMoment = { round, timeMs, grown, isQuiet: asked === "quiet" };
  const replayed: Channel[] = [];
  for (const name of new Set(inputs)) {
    const channel = nodes.channel(name);
    if (channel === null) continue;
    if (channel.rows !== null) {
      if (channel.rows.size > 0) node.push(name, channel.rows.batch(), timeMs);
    } else if (asked !== false || !nodes.isAppendOnly(name)) replayed.push(channel);
  }
  if (node.hasWork) node.run(moment);
  const segments = replayed.flatMap((channel) => channel.log.all.map((segment) => ({ channel, segment })));
  segments.sort((a, b) => a.segment.round - b.segment.round);
  for (const [i, { channel, segment }] of segments.entries()) {
    node.push(channel.name, channel.rowsOf(segment), timeMs);
    if (segments[i + 1]?.segment.round !== segment.round) node.run(moment);
  }
  for (const name of new Set(inputs)) {
    const watermark = nodes.channel(name)?.watermark;
    if (watermark != null) node.watermark(name, watermark);
  }
  if (node.hasWork) node.run(moment);
}
