import { Context } from "../model/context.js";
import type { Key } from "../model/key.js";
import { readonly } from "../model/marks.js";
import { tracked } from "../model/tracked.js";
import { encode } from "../state/codec.js";

interface Kept<M> {
  readonly message: M;
  readonly bytes: number;
}

/** Messages of a topic from a number on. */
export interface TopicPage<M> {
  readonly messages: readonly M[];
  /** The number of the first of them. */
  readonly first: number;
  /** The number to go on with. */
  readonly next: number;
}

/** With a name of its own, so that it is an answer to its caller and no failure of the program. */
class BadPosition extends RangeError {
  override name = "BadPosition";
}

const PAGE_BYTES = 256 * 1024;

/**
 * A topic is a context, and a message that is published to it is part of the event that publishes it: all or nothing, in the order of
 * events, once. Its messages have numbers, from 1 on. A client that knows the number of its last message goes on behind it, whatever
 * has happened to connections and servers; the topic knows nothing of its followers. The method through which clients reach it decides
 * which callers may read it.
 */
export class Topic<M = unknown, K extends Key = string> extends Context<K> {
  private kept = tracked.list<Kept<M>>();
  private keptBytes = 0;
  private next = 1;

  /** How many messages the topic keeps for subscribers that come later or come back, and how many bytes. */
  protected get keeps(): { readonly messages: number; readonly bytes: number } {
    return { messages: 1000, bytes: 1024 * 1024 };
  }

  /** Publishes a message when the event commits. Returns its number. */
  publish(message: M): number {
    const bytes = encode(message).byteLength;
    this.kept.push({ message, bytes });
    this.keptBytes += bytes;
    const { messages, bytes: bytesMax } = this.keeps;
    while (this.kept.length > messages || (this.keptBytes > bytesMax && this.kept.length > 1))
      this.keptBytes -= this.kept.shift()?.bytes ?? 0;
    this.next += 1;
    return this.next - 1;
  }

  /** The messages from a number on, as many as fit into a page; from 0, the messages that come from now on. */
  @readonly since(from: number): TopicPage<M> {
    if (!Number.isSafeInteger(from) || from < 0)
      throw new BadPosition("the numbers of messages begin with 1; 0 stands for those to come");
    const oldest = this.next - this.kept.length;
    const first = from === 0 ? this.next : Math.max(from, oldest);
    const messages: M[] = [];
    let bytes = 0;
    for (
      let at = first - oldest;
      at < this.kept.length && (bytes < PAGE_BYTES || messages.length === 0);
      at++
    ) {
      const kept = this.kept.at(at) as Kept<M>;
      bytes += kept.bytes;
      messages.push(kept.message);
    }
    return { messages, first, next: first + messages.length };
  }
}
