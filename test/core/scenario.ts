import { Core, type CoreOptions } from "#src/core/core.js";
import { CoreContext } from "#src/core/core-context.js";
import type { CoreEvent, Mode, Request } from "#src/core/event.js";
import type { Marks } from "#src/core/marks.js";
import type { Plant } from "#src/core/plants.js";

/**
 * A scenario is a text: comments (`# …`), and steps. A step is one or more commands, a line of dashes, and the trace: what
 * the core wants done after these commands. Contexts are paths (`/` is the root) and are made on first use.
 *
 *     core [commit-order=total]                         first, if at all
 *     request EVENT PATH [read|none] [views=PATH,…] [spares=PATH,…]
 *     call EVENT PATH [whole]                           the event calls a context; with everything below it if `whole`
 *     release EVENT PATH [changed]                      the event gives a context up, which it has changed or not
 *     retract EVENT                                     the event takes back what it changed in contexts it had given up
 *     finish EVENT [failed] [starts=EVENT@PATH,…] [sends=MESSAGE,…]
 *     lose EVENT…                                       what these events have done is lost, with a host
 *     deliver SENDER NUMBER EVENT PATH                  a message from another logical node
 *     recover LAST [TICKET:EVENT@PATH…] [TICKET:MESSAGE…]   what an earlier process has left in the journal
 *     journal hold|go                                   the journal takes its time from here on; it has everything so far
 *     status                                            which events there are, and who waits for whom
 */

type Event = CoreEvent<string>;

interface Step {
  readonly commands: readonly string[];
  /** Comments and empty lines before the commands. */
  readonly before: readonly string[];
}

const DASHES = "----";

/** The scenario with the trace that the core gives now. `plant` is a bug, to see whether the scenario would show it. */
export function traced(text: string, marks: Marks, plant?: Plant): string {
  const world = new World(marks, plant);
  const lines: string[] = [];
  for (const { before, commands } of stepsOf(text)) {
    lines.push(...before);
    if (commands.length > 0) lines.push(...commands, DASHES, ...world.step(commands));
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  let before: string[] = [];
  let commands: string[] = [];
  let isTrace = false;
  const end = () => {
    steps.push({ before, commands });
    [before, commands, isTrace] = [[], [], false];
  };
  for (const line of text.split("\n")) {
    if (line === "" && commands.length > 0) end();
    if (isTrace) continue;
    if (line === DASHES) isTrace = true;
    else if (line === "" || line.startsWith("#")) before.push(line);
    else commands.push(line);
  }
  end();
  return steps;
}

/** A core with a host around it that does what the core wants, and writes it down. */
class World {
  #core: Core<string>;
  readonly #options: CoreOptions;
  readonly #contexts = new Map<string, CoreContext<string>>();
  readonly #events = new Map<string, Event>();
  readonly #unjournaled: Event[] = [];
  #isJournalHeld = false;
  readonly #said: string[] = [];

  constructor(marks: Marks, plant: Plant | undefined) {
    this.#options = { marks, plant };
    this.#core = new Core(this.#options);
  }

  step(commands: readonly string[]): string[] {
    this.#said.length = 0;
    for (const command of commands) {
      const [name = "", ...args] = command.split(" ");
      try {
        this.#run(name, args);
      } catch (error) {
        if (!(error instanceof Error) || error instanceof Misspelt) throw error;
        this.#said.push(`refused: ${error.message}`);
      }
      for (const { payload } of this.#core.takeRollbacks()) this.#said.push(`undo ${payload}`);
    }
    this.#carryOut();
    return [...this.#said];
  }

  #run(name: string, args: readonly string[]): void {
    const [first = "", second = ""] = args;
    switch (name) {
      case "core":
        this.#core = new Core({
          ...this.#options,
          commitOrder: first === "commit-order=total" ? "total" : "observer",
        });
        return;
      case "request":
        this.#events.set(first, this.#core.request(this.#request(first, second, args.slice(2))));
        return;
      case "call":
        this.#core.call(this.#event(first), this.#context(second), second, args[2] === "whole");
        return;
      case "release":
        return this.#core.release(this.#event(first), this.#context(second), args[2] === "changed");
      case "retract":
        return this.#core.retract(this.#event(first));
      case "finish":
        return this.#core.finish(this.#event(first), {
          failed: args.includes("failed"),
          starts: listOf(args, "starts").map((start) => this.#started(start)),
          messages: listOf(args, "sends").map((body) => ({ to: "somebody", body })),
        });
      case "lose":
        return this.#core.lose(args.map((each) => this.#event(each)));
      case "deliver":
        return this.#core.deliver(first, Number(second), this.#request(args[2] ?? "", args[3] ?? "", []));
      case "recover":
        return this.#recover(Number(first), args.slice(1));
      case "journal":
        this.#isJournalHeld = first === "hold";
        return;
      case "status":
        this.#carryOut();
        this.#said.push(...this.#status());
        return;
      default:
        throw new Misspelt(`there is no command ${name}`);
    }
  }

  #recover(last: number, items: readonly string[]): void {
    const moment = { ms: 0, steadyMs: 0 };
    this.#core.recover(
      last,
      items.map((item) => {
        const [number, what = ""] = item.split(":");
        const ticket = Number(number);
        if (what.includes("@")) return { ticket, moment, request: this.#started(what) };
        return { ticket, messages: [{ to: "somebody", body: what }] };
      }),
    );
    for (const event of this.#core.unsettled()) this.#events.set(event.payload, event);
  }

  #request(name: string, path: string, options: readonly string[]): Request<string> {
    const mode: Mode = options.includes("read") ? "read" : options.includes("none") ? "none" : "write";
    const spared = listOf(options, "spares").map((each) => this.#context(each));
    const spares = (context: CoreContext<string>) => spared.some((each) => context.isWithin(each));
    return {
      context: this.#context(path),
      mode,
      views: listOf(options, "views").map((each) => this.#context(each)),
      payload: name,
      ...(spared.length > 0 && { spares }),
    };
  }

  #started(written: string): Request<string> {
    const [name = "", path = ""] = written.split("@");
    return this.#request(name, path, []);
  }

  #event(name: string): Event {
    const event = this.#events.get(name);
    if (event === undefined) throw new Misspelt(`there is no event ${name}`);
    return event;
  }

  #context(path: string): CoreContext<string> {
    if (!path.startsWith("/")) throw new Misspelt(`${path} is not a path`);
    let context = this.#contexts.get(path);
    if (context === undefined) {
      const above = path.slice(0, path.lastIndexOf("/")) || "/";
      context = new CoreContext(path === "/" ? null : this.#context(above), path);
      this.#contexts.set(path, context);
    }
    return context;
  }

  /** The duties of a host, in the order in which `core/ready.ts` has them. */
  #carryOut(): void {
    const said = this.#said;
    while (this.#core.hasWork || (!this.#isJournalHeld && this.#unjournaled.length > 0)) {
      for (const { payload } of this.#core.takeRollbacks()) said.push(`undo ${payload}`);
      const ready = this.#core.ready();
      for (const event of ready.ticketed) {
        this.#events.set(event.payload, event);
        said.push(`ticket ${event.payload}`);
      }
      for (const { event, context } of ready.views) said.push(`view ${event.payload} ${context.owner}`);
      for (let entry = ready.nextToEnter(); entry !== null; entry = ready.nextToEnter()) {
        const { event, context, isWhole, ofAttempt } = entry;
        if (ofAttempt !== event.attempt) continue;
        said.push(`enter ${event.payload} ${context.owner}${isWhole ? " whole" : ""}`);
      }
      if (ready.append !== null) this.#unjournaled.push(ready.append);
      for (let at = ready.append; at !== null; at = at.along) said.push(`append ${at.payload}`);
      for (let at = ready.nextSettled(); at !== null; at = ready.nextSettled())
        said.push(`settle ${at.payload}`);
      for (const { body } of ready.send) said.push(`send ${String(body)}`);
      if (!this.#isJournalHeld) for (const first of this.#unjournaled.splice(0)) this.#core.journaled(first);
    }
  }

  *#status(): Iterable<string> {
    const waits = new Map<Event, string[]>();
    for (const event of this.#events.values()) {
      const last = event.lastWaiter;
      for (let entry = last?.after ?? null; entry !== null; entry = entry === last ? null : entry.after) {
        if (entry.ofAttempt !== entry.event.attempt) continue;
        const what = entry.view !== null ? "to view " : "";
        const waiting = waits.get(entry.event) ?? [];
        waiting.push(`, waits ${what}${entry.context.owner} for ${event.payload}`);
        waits.set(entry.event, waiting);
      }
    }
    for (const event of this.#core.unsettled()) {
      const attempt = event.attempt > 1 ? `, attempt ${event.attempt}` : "";
      const waiting = (waits.get(event) ?? []).join("");
      yield `${event.payload} ${event.status}${attempt}${waiting}`;
    }
  }
}

/** The scenario itself is wrong, not what the core is asked for. */
class Misspelt extends Error {}

function listOf(args: readonly string[], name: string): string[] {
  const found = args.find((each) => each.startsWith(`${name}=`));
  return found === undefined ? [] : found.slice(name.length + 1).split(",");
}
