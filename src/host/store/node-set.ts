import { HeadwaterError } from "../../errors.js";
import type { GroupLog, KeyTable, Write } from "../../journal/journal.js";
import { decode, encode } from "../../state/codec.js";
import { segment } from "../context/index.js";
import { keysOfNode, stateOfNode } from "./keys-of-node.js";

/**
 * Which logical nodes a journal has, and how that changes when a program begins that has others.
 *
 *     i/NODE     [name of its root class], or [name, true] while what the journal has of the node is deleted
 *
 * One group of writes makes the new set; a crash leaves the old one or the new one. What the journal has of a dropped node is
 * deleted after that, a page at a time, and before the program begins; a beginning that is interrupted is continued by the next one.
 */
const NODES = "i/";

/** The logical nodes of a program: the names of their root classes, by their own names. */
export type NodeNames = ReadonlyMap<string, string>;

export interface StoredNode {
  readonly name: string;
  readonly root: string;
  readonly isDropped: boolean;
}

interface NodeSetOptions {
  /** The nodes that may be removed with all their state. */
  readonly dropNodes?: readonly string[];
  /** What the journal's own card calls the program. Journals of earlier versions name their nodes nowhere else. */
  readonly madeFor?: string | null;
  /** Names the journal in errors. */
  readonly address?: string;
}

/** What is to be done so that a journal has the logical nodes of a program. */
export interface NodeSetChange {
  /** One group: the moment of the change. */
  readonly writes: readonly Write[];
  /** Nodes whose keys are to be deleted, by name. */
  readonly dropped: NodeNames;
  readonly wanted: NodeNames;
}

/** How many keys one group deletes. */
const PAGE_KEYS = 1000;

/**
 * Compares the logical nodes of a program with those of a journal. Throws HW-3002 if the journal is another program's, and
 * HW-3028 if a node has state that the program no longer has.
 */
export function nodeSetChange(
  table: KeyTable,
  wanted: NodeNames,
  { dropNodes = [], madeFor = null, address = "in memory" }: NodeSetOptions = {},
): NodeSetChange {
  const stored = storedNodes(table);
  const known = stored.size > 0 || madeFor === null ? stored : namedIn(madeFor, wanted);
  const present = new Map([...known].filter(([, { isDropped }]) => !isDropped));
  if (present.size > 0 && ![...present.keys()].some((node) => wanted.has(node)))
    throw anotherProgram(address, present, wanted);
  const writes: Write[] = [];
  const dropped = new Map<string, string>();
  const kept: string[] = [];
  for (const [node, { root, isDropped }] of known) {
    if (isDropped) dropped.set(node, root);
    else if (wanted.get(node) !== root) {
      const state = stateOfNode(table, node, root);
      if (state.length > 0 && wanted.has(node))
        throw anotherRoot(address, node, root, wanted.get(node) ?? "");
      if (state.length > 0 && !dropNodes.includes(node)) kept.push(`"${node}" (${state.join(", ")})`);
      if (state.length > 0) dropped.set(node, root);
      else if (!wanted.has(node)) writes.push({ key: keyOf(node), value: null });
    }
  }
  if (kept.length > 0) throw hasState(address, kept);
  for (const [node, root] of dropped) {
    if (stored.get(node)?.isDropped !== true) writes.push({ key: keyOf(node), value: encode([root, true]) });
  }
  for (const [node, root] of wanted) {
    if (!dropped.has(node) && stored.get(node)?.root !== root)
      writes.push({ key: keyOf(node), value: encode([root]) });
  }
  return { writes, dropped, wanted };
}

/** The groups that carry a change out, each made when the ones before it have been appended. */
export function* groupsOf(
  table: KeyTable,
  { writes, dropped, wanted }: NodeSetChange,
  pageKeys = PAGE_KEYS,
): Iterable<readonly Write[]> {
  if (writes.length > 0) yield writes;
  for (const [node, root] of dropped) {
    for (const page of keysOfNode(table, node, root, pageKeys))
      yield page.map((key) => ({ key, value: null }));
    const again = wanted.get(node);
    yield [{ key: keyOf(node), value: again === undefined ? null : encode([again]) }];
  }
}

/** Resolves when the journal has the logical nodes of the program, and nothing of dropped ones. */
export async function changeNodeSet(journal: GroupLog & KeyTable, change: NodeSetChange): Promise<void> {
  for (const writes of groupsOf(journal, change)) {
    await new Promise<void>((resolve, reject) => {
      journal.append(writes, (error) => (error === null ? resolve() : reject(error)));
    });
  }
}

/** The logical node that an entry of a journal is about; null if it is about something else. */
export function storedNode(key: string, bytes: Uint8Array): StoredNode | null {
  if (!key.startsWith(NODES)) return null;
  const [root, isDropped = false] = decode(bytes) as [string, boolean?];
  return { name: decodeURIComponent(key.slice(NODES.length)), root, isDropped };
}

/** `Game, printer: Printer`, as people read it, and as journals of earlier versions have it. */
export function shownNodes(nodes: NodeNames): string {
  return [...nodes]
    .map(([node, root]) => (node === root ? node : `${node}: ${root}`))
    .sort()
    .join(", ");
}

function keyOf(node: string): string {
  return `${NODES}${segment(node)}`;
}

function storedNodes(table: KeyTable): Map<string, StoredNode> {
  const nodes = new Map<string, StoredNode>();
  for (const [key, bytes] of table.range(NODES)) {
    const node = storedNode(key, bytes);
    if (node !== null) nodes.set(node.name, node);
  }
  return nodes;
}

/** The nodes of a program as `shownNodes` has written them. */
function namedIn(text: string, wanted: NodeNames): Map<string, StoredNode> {
  const named = (name: string, root = name): [string, StoredNode] => [name, { name, root, isDropped: false }];
  if (text === shownNodes(wanted)) return new Map([...wanted].map(([node, root]) => named(node, root)));
  return new Map(
    text.split(", ").map((each) => {
      const at = each.lastIndexOf(": ");
      return at < 0 ? named(each) : named(each.slice(0, at), each.slice(at + 2));
    }),
  );
}

function anotherProgram(
  address: string,
  present: ReadonlyMap<string, StoredNode>,
  wanted: NodeNames,
): HeadwaterError {
  const found = shownNodes(new Map([...present].map(([node, { root }]) => [node, root])));
  const given = shownNodes(wanted);
  return new HeadwaterError(
    "HW-3002",
    `The journal in ${address} belongs to the program "${found}", not to "${given}": they have no logical node in common. ` +
      `Nothing was changed. Run "${found}" with it, or name another directory for "${given}". If the root class was ` +
      `renamed, give it its old name: \`static storedAs = "${found}"\`.`,
  );
}

function anotherRoot(address: string, node: string, root: string, given: string): HeadwaterError {
  return new HeadwaterError(
    "HW-3002",
    `The journal in ${address} has state of the logical node "${node}" with the root class ${root}, and the program has ` +
      `${given} there. Nothing was changed. If the class was renamed, give it its old name: \`static storedAs = ` +
      `"${root}"\`. If it is another one, give the logical node another name.`,
  );
}

function hasState(address: string, kept: readonly string[]): HeadwaterError {
  const [are, it] = kept.length === 1 ? ["a logical node", "it"] : ["logical nodes", "them"];
  return new HeadwaterError(
    "HW-3028",
    `The journal in ${address} has state of ${are} that the program no longer has: ${kept.join("; ")}. Nothing was ` +
      `changed. Run the program with ${it}, or say that the state is to be deleted: \`dropNodes\` in the options of ` +
      "`run`, or `--drop-node`.",
  );
}
