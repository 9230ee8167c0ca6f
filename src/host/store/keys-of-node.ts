import type { KeyTable } from "../../journal/journal.js";
import {
  isLong,
  longPrefix,
  mainKey,
  partsPrefix,
  prefixesOfNode,
  rootContextName,
} from "../context/index.js";
import { keysOfTimers } from "../event/index.js";
import { keysOfOlderTimers } from "./older-timers.js";
import { keysOfTaken } from "./other-logs.js";
import { keysOfParked } from "./parked.js";
import { keysOfCalls, keysOfEvents } from "./stored-event.js";

/**
 * Everything that a journal has of one logical node and that is deleted with it: states of contexts, events that are to run
 * (messages to the node among them), timers, outside calls, parked events. Messages that the node has sent stay: they belong to
 * their receivers. So does the number of its last ticket: if a node of the same name is added later, its tickets go on from
 * there, because clients and functions outside know events by node and ticket.
 */

/** Which kinds of state the journal has of a logical node, in the words of an error; empty if none. */
export function stateOfNode(table: KeyTable, node: string, root: string): string[] {
  const name = rootContextName(node, root);
  const { main, parts } = prefixesOfNode(node);
  const kinds: readonly (readonly [kind: string, ...prefixes: string[]])[] = [
    ["contexts", main, parts, mainKey(name), partsPrefix(name), longPrefix(name)],
    ["armed timers", keysOfTimers(node), keysOfOlderTimers(node)],
    ["events and messages that are to run", keysOfEvents(node)],
    ["outside calls", keysOfCalls(node)],
    ["parked events", keysOfParked(node)],
  ];
  return kinds.filter(([, ...prefixes]) => prefixes.some((each) => isAny(table, each))).map(([kind]) => kind);
}

/**
 * The keys of all that, a page at a time; a page may be deleted before the next one is read. Contexts with long names
 * come first: their keys do not name the node, and what leads to them (`l/…`) is deleted last.
 */
export function* keysOfNode(
  table: KeyTable,
  node: string,
  root: string,
  pageKeys: number,
): Iterable<readonly string[]> {
  const name = rootContextName(node, root);
  const leading = longPrefix(name);
  for (const page of pagesOf(table, leading, pageKeys)) {
    for (const key of page) yield* keysOfLong(table, key.slice(leading.length), pageKeys);
  }
  if (isLong(name)) yield* keysOfLong(table, name, pageKeys);
  const { main, parts, paths } = prefixesOfNode(node);
  const others = [keysOfTimers, keysOfOlderTimers, keysOfEvents, keysOfCalls, keysOfParked, keysOfTaken];
  const prefixes = [main, parts, ...others.map((prefixOf) => prefixOf(node)), paths];
  for (const prefix of prefixes) yield* pagesOf(table, prefix, pageKeys);
}

/** All keys of a context whose name is too long to begin with that of its logical node. */
function* keysOfLong(table: KeyTable, name: string, pageKeys: number): Iterable<readonly string[]> {
  yield [mainKey(name)];
  yield* pagesOf(table, partsPrefix(name), pageKeys);
  yield* pagesOf(table, longPrefix(name), pageKeys);
}

function* pagesOf(table: KeyTable, prefix: string, pageKeys: number): Iterable<readonly string[]> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page: string[] = [];
    for (const [key] of table.range(prefix, after)) {
      page.push(key);
      if (page.length === pageKeys) break;
    }
    if (page.length > 0) yield page;
    after = page.length === pageKeys ? page.at(-1) : undefined;
  }
}

function isAny(table: KeyTable, prefix: string): boolean {
  for (const _ of table.range(prefix)) return true;
  return false;
}
