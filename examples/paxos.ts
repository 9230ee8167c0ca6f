import { Context, expose, type NodeService, outside, type ProgramIo, readonly } from "headwater";

/**
 * Paxos on logical nodes, the example of the companion paper (section 1): three logical nodes agree on values, and go on when one of
 * them is lost. Each is a program of its own with a journal of its own, and runs on as many hosts as it needs: a host that is lost is
 * none of Paxos's business, because the logical node goes on without it. Each decree is a context, so decrees are voted on side by side.
 *
 * Letters between the nodes are outside calls that are tried once. They may be lost, come late or twice: that is what Paxos is for.
 * They leave after the event that wrote them is in the journal, so no node forgets a promise that another one has heard of.
 */
export const NODES = ["a", "b", "c"];
const MAJORITY = 2;
const PATIENCE_MS = 100;

export interface Vote {
  readonly ballot: number;
  readonly value: string;
}

export type Message =
  | { readonly kind: "prepare"; readonly ballot: number }
  | { readonly kind: "promise"; readonly ballot: number; readonly vote: Vote | null }
  | { readonly kind: "accept"; readonly ballot: number; readonly value: string }
  | { readonly kind: "accepted"; readonly ballot: number }
  | { readonly kind: "refused"; readonly ballot: number; readonly promised: number }
  | { readonly kind: "chosen"; readonly value: string };

export interface Letter {
  readonly decree: string;
  readonly from: string;
  readonly to: string;
  readonly message: Message;
}

/** One value to agree on. Every node has a part of it, which proposes, votes and learns. */
export class Decree extends Context<string> {
  /** The acceptor votes in no ballot below this one. */
  promised = 0;
  /** How the acceptor voted last. */
  vote: Vote | null = null;
  /** What the proposer was asked for. */
  wanted: string | null = null;
  /** The ballot of the proposer, and what it proposes there, once a majority has promised to vote in it. */
  ballot = 0;
  proposal: string | null = null;
  promises = new Map<string, Vote | null>();
  accepted = new Set<string>();
  attempts = 0;
  highest = 0;
  /** What was chosen, as far as this node has heard. */
  value: string | null = null;

  /** If another value is chosen instead of this one, the node learns which. */
  propose(value: string) {
    if (this.value !== null || this.wanted !== null) return;
    this.wanted = value;
    this.#begin();
  }

  @readonly chosen() {
    return this.value;
  }

  receive(from: string, message: Message) {
    switch (message.kind) {
      case "prepare":
      case "accept":
        return this.#asked(from, message);
      case "promise":
        return this.#promised(from, message.ballot, message.vote);
      case "accepted":
        return this.#accepted(from, message.ballot);
      case "refused":
        this.highest = Math.max(this.highest, message.promised);
        return;
      case "chosen":
        this.value = message.value;
    }
  }

  tryAgain(ballot: number) {
    if (this.value === null && this.ballot === ballot) this.#begin();
  }

  /** No two nodes have a ballot in common. */
  #begin() {
    const place = NODES.indexOf(this.event.node);
    const round = Math.floor(Math.max(this.ballot, this.promised, this.highest) / NODES.length) + 1;
    this.ballot = round * NODES.length + place;
    this.proposal = null;
    this.promises = new Map();
    this.accepted = new Set();
    // Each waits longer than the node before, so that two who outbid each other come apart.
    this.event.after(PATIENCE_MS * (1 + place) * 2 ** Math.min(this.attempts, 5), this.tryAgain, this.ballot);
    this.attempts += 1;
    this.#tellAll({ kind: "prepare", ballot: this.ballot });
  }

  #asked(from: string, message: Extract<Message, { kind: "prepare" | "accept" }>) {
    const { ballot } = message;
    if (this.value !== null) return this.#tell(from, { kind: "chosen", value: this.value });
    if (ballot < this.promised) return this.#tell(from, { kind: "refused", ballot, promised: this.promised });
    this.promised = ballot;
    if (message.kind === "prepare") return this.#tell(from, { kind: "promise", ballot, vote: this.vote });
    this.vote = { ballot, value: message.value };
    this.#tell(from, { kind: "accepted", ballot });
  }

  #promised(from: string, ballot: number, vote: Vote | null) {
    if (ballot !== this.ballot || this.proposal !== null || this.wanted === null) return;
    this.promises.set(from, vote);
    if (this.promises.size < MAJORITY) return;
    // A value that may have been chosen in an earlier ballot has a vote in every majority, the latest of those that are there.
    let latest: Vote = { ballot: 0, value: this.wanted };
    for (const each of this.promises.values())
      if (each !== null && each.ballot > latest.ballot) latest = each;
    this.proposal = latest.value;
    this.#tellAll({ kind: "accept", ballot, value: latest.value });
  }

  #accepted(from: string, ballot: number) {
    if (ballot !== this.ballot || this.proposal === null || this.value !== null) return;
    this.accepted.add(from);
    if (this.accepted.size >= MAJORITY) this.#tellAll({ kind: "chosen", value: this.proposal });
  }

  #tellAll(message: Message) {
    for (const node of NODES) this.#tell(node, message);
  }

  #tell(to: string, message: Message) {
    if (to === this.event.node) this.receive(to, message);
    else this.event.outside(post, { decree: this.key, from: this.event.node, to, message });
  }
}

export class Replica extends Context {
  decrees = this.children(Decree);
}

/** Brings a letter to another process: `PAXOS_PEERS` has their addresses (`a=http://… b=http://…`). */
async function byHttp(
  { decree, from, to, message }: Letter,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const peers = new Map(
    (process.env.PAXOS_PEERS ?? "").split(" ").map((peer) => peer.split("=") as [string, string]),
  );
  await fetch(`${peers.get(to)}/api/receive`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify([decree, from, message]),
    signal,
  });
}

/** How letters travel. */
export const office = { deliver: byHttp };

const post = outside(
  "paxos.post",
  (letter: Letter, { key, signal }) => office.deliver(letter, key, signal),
  { attempts: 1, timeoutMs: 1000 }, // a lost letter is not sent again: the proposer begins another ballot
);

/** `PAXOS_NODE=a` runs one node; without it, all three run in one process, for a look at them. */
const own = process.env.PAXOS_NODE ?? "a";
const program: Record<string, typeof Replica> = Object.fromEntries(
  (process.env.PAXOS_NODE === undefined ? NODES : [own]).map((node) => [node, Replica]),
);
export default program;

export const api = expose(program, {
  propose: (nodes, decree: string, value: string) => decreeOf(nodes, own, decree).propose(value),
  chosen: (nodes, decree: string) => decreeOf(nodes, own, decree).chosen(),
  receive: (nodes, decree: string, from: string, message: Message) =>
    decreeOf(nodes, own, decree).receive(from, message),
});

type Nodes = NodeService<typeof program>["nodes"];

function decreeOf(nodes: Nodes, node: string, decree: string) {
  const replica = nodes[node];
  if (replica === undefined) throw new Error(`there is no node ${node} here`);
  return replica.decrees(decree);
}

/** Three nodes in one process agree, also when one of them is cut off. */
export async function main({ nodes, idle }: NodeService<typeof program>, io: ProgramIo) {
  if (process.env.PAXOS_NODE !== undefined) return;
  const lost = new Set<string>();
  office.deliver = async ({ decree, from, to, message }) => {
    if (!lost.has(from) && !lost.has(to)) await decreeOf(nodes, to, decree).receive(from, message);
  };
  const report = async (decree: string, among: readonly string[]) => {
    await idle();
    const heard = await Promise.all(
      among.map(async (node) => `${node} ${await decreeOf(nodes, node, decree).chosen()}`),
    );
    io.print(`${decree}: ${heard.join(", ")}`);
  };

  await decreeOf(nodes, "a", "colour").propose("red");
  await report("colour", NODES);
  lost.add("c");
  await decreeOf(nodes, "a", "shape").propose("round");
  await report("shape", ["a", "b"]);
  lost.clear();
  await decreeOf(nodes, "c", "shape").propose("square"); // too late: c learns what was chosen
  await report("shape", NODES);
}
