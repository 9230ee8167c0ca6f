import { resolve } from "node:path";
import { HeadwaterError } from "../errors.js";
import { memoryPorts } from "../host/ports/index.js";
import { type rootsOf, runOn } from "../host/run.js";
import { Ledger, type PastEvent } from "../host/store/index.js";
import { existingCard } from "../journal/directory.js";
import type { Write } from "../journal/journal.js";
import { MemoryJournal } from "../journal/memory.js";
import type { TableAt } from "../journal/versions.js";
import { DOOR } from "../model/door.js";
import { resolvePath } from "../model/path.js";
import { decode, encode } from "../state/codec.js";
import { preview } from "../state/preview.js";
import { type Arguments, misused } from "./arguments.js";
import { differenceOf } from "./journal-past.js";
import { PastJournal } from "./past-journal.js";
import { type LoadedProgram, loadProgram } from "./program.js";
import { findProgram } from "./program-file.js";
import { replay } from "./replay.js";
import { messageOf, whereabouts } from "./report.js";
import type { Terminal } from "./terminal.js";

/** Takes what the event writes, and no more: events that it starts have their own groups. */
class ReplayJournal extends MemoryJournal {
  group: readonly Write[] | null = null;
  isAsked = false;

  override append(writes: readonly Write[], done: Parameters<MemoryJournal["append"]>[1]): void {
    if (this.isAsked && this.group === null && writes.length > 0) this.group = writes;
    super.append(writes, done);
  }
}

/** What came of the event. */
type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

export async function replayEvent(args: Arguments, terminal: Terminal): Promise<number> {
  const [file = "", directory = ""] = args.operands;
  const ticket = Number(args.values.get("ticket") ?? Number.NaN);
  const program = await loadProgram(findProgram(file, process.cwd()));
  existingCard(resolve(directory));
  if (!Number.isSafeInteger(ticket)) throw misused(replay, "--ticket is the number of the event's ticket.");
  const past = await PastJournal.of(resolve(directory));
  const node = past.node(args.values.get("node"));
  const before = past.at(node, ticket - 1);
  const event = past.event(node, ticket);
  if (event === null)
    throw new HeadwaterError(
      "HW-3029",
      `no event with ticket ${ticket} of ${node} that changed something is in the journal's history.`,
    );
  if (args.flags.has("inspect")) await debuggerAttached(terminal);
  const journal = await journalOf(before, node, event);
  const { outcome, asked } = await outcomeOf(program, journal, node, event);
  report(terminal, args.flags.has("json"), outcome, asked, journal, before);
  return outcome.ok ? 0 : 1;
}

/** Blocks until a debugger is there; then the event begins, and stops at the first statement of a method with a breakpoint. */
async function debuggerAttached(terminal: Terminal): Promise<void> {
  const inspector = await import("node:inspector");
  inspector.open(9229, "127.0.0.1");
  terminal.say(
    "Waiting for a debugger at 127.0.0.1:9229 (chrome://inspect, or an editor). Set breakpoints, then continue.",
  );
  inspector.waitForDebugger();
}

/** A journal in memory as it was before the event, which lets the next event have its ticket. */
async function journalOf(before: TableAt, node: string, { ticket, ms }: PastEvent): Promise<ReplayJournal> {
  const journal = new ReplayJournal();
  const writes: Write[] = [];
  for (const prefix of ["c/", "d/", "l/"])
    for (const [key, value] of before.range(prefix)) writes.push({ key, value });
  for (const prefix of ["s/", "i/", "h"])
    for (const [key, value] of before.now.range(prefix)) writes.push({ key, value });
  writes.push({ key: `n/${encodeURIComponent(node)}`, value: encode([ticket - 1, ms, ms]) });
  await new Promise<void>((done) => journal.append(writes, () => done()));
  return journal;
}

async function outcomeOf(
  { roots }: LoadedProgram,
  journal: ReplayJournal,
  node: string,
  event: PastEvent,
): Promise<{ outcome: Outcome; asked: string[] }> {
  const asked: string[] = [];
  const ports = {
    ...memoryPorts,
    timeOfDay: () => event.ms,
    transmit: () => {},
    callOutside: (name: string) => {
      asked.push(name);
      return new Promise(() => {});
    },
  };
  const options = { onError: () => {}, onWarning: () => {} };
  const service = runOn(ports, roots as Parameters<typeof rootsOf>[0], options, new Ledger(journal, 1000));
  const { [DOOR]: door } = service;
  const root = door.roots.get(node);
  if (root === undefined) throw new HeadwaterError("HW-3023", `the program has no logical node ${node}.`);
  const target = resolvePath(root as Parameters<typeof resolvePath>[0], event.path);
  const method = target.shape.methods.get(event.method);
  if (method === undefined)
    throw new HeadwaterError("HW-3023", `${String(target)} has no method ${event.method} any more.`);
  if (event.args === null)
    throw new HeadwaterError("HW-3029", `the arguments of event ${event.ticket} could not be kept.`);
  const given = decode(event.args) as unknown[];
  journal.isAsked = true;
  const outcome = await new Promise<Outcome>((done) => {
    door.ask(
      { target, method, args: given },
      event.caller ?? undefined,
      undefined,
      { caller: "replay", part: "" },
      {
        resolve: (value) => done({ ok: true, value }),
        reject: (error: unknown) => done({ ok: false, error }),
      },
    );
  });
  await service.stop({ graceMs: 0 });
  return { outcome, asked };
}

function report(
  terminal: Terminal,
  json: boolean,
  outcome: Outcome,
  outside: readonly string[],
  journal: ReplayJournal,
  before: TableAt,
): void {
  const written = new Map((journal.group ?? []).map(({ key, value }) => [key, value ?? undefined]));
  const changes = [...written]
    .filter(([key]) => /^[cdl]\//.test(key))
    .flatMap(([key, value]) => differenceOf(key, before.get(key), value) ?? []);
  const started = [...written.keys()].filter(
    (key) => /^[ewom]\//.test(key) && written.get(key) !== undefined,
  );
  if (json) {
    const said = outcome.ok
      ? { ok: true, value: preview(outcome.value) }
      : { ok: false, error: messageOf(outcome.error) };
    terminal.out(
      JSON.stringify({
        ...said,
        changes: changes.map((line) => JSON.parse(line) as unknown),
        asks: started,
        outside,
      }),
    );
    return;
  }
  if (outcome.ok) terminal.out(`returned ${JSON.stringify(preview(outcome.value))}`);
  else {
    terminal.out(`threw ${messageOf(outcome.error)}`);
    for (const line of whereabouts(outcome.error)) terminal.out(line);
  }
  for (const line of changes) terminal.out(line);
  for (const key of started) terminal.out(`asks for ${key}`);
  terminal.say("Nothing was changed.");
}
