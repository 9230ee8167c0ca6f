import { Context, expose, readonly, Topic, userOf } from "headwater";

class Refused extends Error {
  override name = "Refused";
}

export interface News {
  readonly by: string;
  readonly n: number;
}

class Short extends Topic<number> {
  protected override get keeps() {
    return { messages: 5, bytes: 1000 };
  }
}

export default class Newsroom extends Context {
  topics = this.children(Topic<News>);
  inboxes = this.children(Topic<string>);
  short = this.child(Short as unknown as new () => Topic<number, never>);
  counts = new Map<string, number>();

  /** Each publisher's news are numbered from 1 on. An event that fails publishes nothing. */
  async publish(topic: string, by: string, fails: boolean) {
    const n = (this.counts.get(`${topic} ${by}`) ?? 0) + 1;
    this.counts.set(`${topic} ${by}`, n);
    await this.topics(topic).publish({ by, n });
    if (fails) throw new Refused("after it was published");
    return n;
  }

  async tell(user: string, text: string) {
    await this.inboxes(user).publish(text);
  }

  @readonly async inbox(from: number) {
    const user = userOf(this.event.caller);
    if (user === undefined) throw new Refused("only users have an inbox");
    return await this.inboxes(user).since(from);
  }

  async count(to: number) {
    for (let i = 1; i <= to; i++) await this.short.publish(i);
  }

  greet(client: string) {
    this.event.send(client, "hello");
  }
}

export const api = expose(Newsroom, {
  publish: (room, topic: string, by: string, fails: boolean) => room.publish(topic, by, fails),
  news: (room, from: number, topic: string) => room.topics(topic).since(from),
  tell: (room, user: string, text: string) => room.tell(user, text),
  inbox: (room, from: number) => room.inbox(from),
  count: (room, to: number) => room.count(to),
  short: (room, from: number) => room.short.since(from),
  greet: (room, client: string) => room.greet(client),
});
