import { Context, expose, readonly, tracked } from "headwater";

/**
 * Chat rooms. Who is there is state like any other: the server makes a request when a client's session comes or goes, so there are
 * no heartbeats in the program, and after a crash the sessions that do not come back are reported as gone.
 */
export interface Line {
  readonly from: string;
  readonly text: string;
}

const LINES_MAX = 100;

export class Room extends Context<string> {
  members = new Map<string, string>();
  lines = tracked.list<Line>();

  enter(session: string, name: string) {
    this.members.set(session, name);
    this.tell({ present: [...this.members.values()] });
  }

  leave(session: string) {
    if (this.members.delete(session)) this.tell({ present: [...this.members.values()] });
  }

  say(text: string) {
    const from = this.members.get(this.event.caller ?? "");
    if (from === undefined) throw new Error(`enter ${this.key} before you say something there`);
    const line = { from, text };
    this.lines.push(line);
    if (this.lines.length > LINES_MAX) this.lines.shift();
    this.tell({ line });
  }

  @readonly recent() {
    return [...this.lines];
  }

  private tell(news: object) {
    for (const session of this.members.keys()) this.event.send(session, { room: this.key, ...news });
  }
}

export default class Chat extends Context {
  rooms = this.children(Room);
  /** The room of each session that is connected; an empty name before it enters one. */
  sessions = new Map<string, string>();

  connected(session: string) {
    if (!this.sessions.has(session)) this.sessions.set(session, "");
  }

  async disconnected(session: string) {
    const room = this.sessions.get(session);
    this.sessions.delete(session);
    if (room) await this.rooms(room).leave(session);
  }

  async enter(room: string, name: string) {
    const session = this.event.caller;
    if (session === undefined) throw new Error("only a connected client can enter a room");
    const before = this.sessions.get(session);
    if (before && before !== room) await this.rooms(before).leave(session);
    this.sessions.set(session, room);
    await this.rooms(room).enter(session, name);
  }

  @readonly present() {
    return [...this.sessions.keys()];
  }
}

function texts(...args: unknown[]) {
  const isFine = args.every((arg) => typeof arg === "string" && arg.length > 0 && arg.length <= 1000);
  if (!isFine) throw new TypeError("rooms, names and lines are texts of 1 to 1000 characters");
}

/** What callers may ask for with `headwater run examples/chat --port 8080`. */
export const api = expose(
  Chat,
  {
    enter: { check: texts, request: (chat, room: string, name: string) => chat.enter(room, name) },
    say: { check: texts, request: (chat, room: string, text: string) => chat.rooms(room).say(text) },
    recent: { check: texts, request: (chat, room: string) => chat.rooms(room).recent() },
  },
  {
    connected: (chat, session) => chat.connected(session),
    disconnected: (chat, session) => chat.disconnected(session),
    present: (chat) => chat.present(),
  },
);
