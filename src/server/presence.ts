import type { ApiFunction, SessionEvents } from "../model/api.js";
import type { Door } from "../model/door.js";
import { Calls } from "./call.js";

/**
 * Tells a program when client sessions come and go. What the program takes for connected is in its own state, so it survives a crash: a
 * server that starts asks for it, and reports the sessions that do not come back.
 */
export class Presence {
  readonly #calls: Calls;
  readonly #connected = new Set<string>();
  /** Sessions that are away, until they are reported. */
  readonly #away = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    readonly door: Door,
    program: Parameters<typeof Calls.forFunctions>[1],
    events: SessionEvents<never>,
    readonly awayMs: number,
  ) {
    const names = ["connected", "disconnected", "present"] as const;
    const functions = names.map(
      (name) => [name, { call: events[name], check: null } as unknown as ApiFunction] as const,
    );
    this.#calls = Calls.forFunctions(door, program, new Map(functions));
    this.#request("present", [], (sessions) => {
      for (const session of sessions as Iterable<string>)
        if (!this.#connected.has(session)) this.left(session);
    });
  }

  /** A connection speaks for the session. */
  arrived(session: string): void {
    const timer = this.#away.get(session);
    clearTimeout(timer);
    this.#away.delete(session);
    if (this.#connected.has(session)) return;
    this.#connected.add(session);
    this.#request("connected", [session]);
  }

  /** It has lost its connection. */
  left(session: string): void {
    clearTimeout(this.#away.get(session));
    const timer = setTimeout(() => this.ended(session), this.awayMs);
    timer.unref();
    this.#away.set(session, timer);
  }

  /** It is over, or was away for too long. */
  ended(session: string): void {
    const timer = this.#away.get(session);
    clearTimeout(timer);
    this.#away.delete(session);
    if (!this.#connected.delete(session) && timer === undefined) return;
    this.#request("disconnected", [session]);
  }

  /** The server closes: sessions may go on at the next one. */
  stop(): void {
    for (const timer of this.#away.values()) clearTimeout(timer);
    this.#away.clear();
  }

  #request(
    name: "connected" | "disconnected" | "present",
    args: string[],
    then: (value: unknown) => void = () => {},
  ): void {
    const payer = { caller: "the server", part: "sessions" };
    const waiting = {
      resolve: then,
      reject: (error: unknown) => this.door.failed(`sessions.${name}`, error),
    };
    this.#calls.call(
      name,
      args,
      (asked, settle) => this.door.ask(asked, args[0], undefined, payer, settle),
      waiting,
    );
  }
}
