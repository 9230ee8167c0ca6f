import { Context, outside, readonly, tracked } from "headwater";
import "../classes.js";

/** Keeps one value in every way in which a program can keep and pass one. */

const echo = outside("values.echo", async (value: unknown) => value);

class Leaf extends Context<string> {
  plain: unknown = null;
  listed = tracked.list<unknown>();
  mapped = tracked.map<string, unknown>();
  started: unknown = null;
  timed: unknown = null;
  answered: unknown = null;
  done = 0;

  keep(value: unknown, client: string) {
    this.plain = value;
    this.listed.push(value, value);
    this.mapped.set("value", value);
    this.event.start(this.above(Leaf)).noteStarted(value);
    this.event.after(0, this.noteTimed, value);
    this.event.outside(echo, value, this.noteAnswered);
    this.event.send(client, { key: this.key, value });
    return value;
  }

  noteStarted(value: unknown) {
    this.started = value;
    this.done += 1;
  }

  noteTimed(value: unknown) {
    this.timed = value;
    this.done += 1;
  }

  noteAnswered(result: { ok: boolean; value?: unknown }) {
    this.answered = result.value;
    this.done += 1;
  }

  fail(value: unknown) {
    throw value;
  }

  echo(value: unknown) {
    return value;
  }

  @readonly isDone() {
    return this.done === 3;
  }

  @readonly all() {
    const { plain, started, timed, answered } = this;
    return { plain, started, timed, answered, listed: [...this.listed], mapped: [...this.mapped] };
  }
}

export default class Mirror extends Context {
  leaves = this.children(Leaf);

  async keepBelow(key: string, value: unknown, client: string) {
    return this.leaves(key).keep(value, client);
  }

  async echoBelow(key: string, value: unknown) {
    const returned = await this.leaves(key).echo(value);
    const thrown = await this.leaves(key)
      .fail(value)
      .catch((error: unknown) => error);
    return { returned, thrown };
  }
}
