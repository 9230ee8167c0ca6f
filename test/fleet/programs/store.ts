import { Context, tracked } from "headwater";

/** A store whose size is up to its caller, in a tracked map or in a plain field. */
class Shelf extends Context<number> {
  items = tracked.map<string, string>();
  log: string[] = [];
  label = "";
  count = 0;

  fill(from: number, count: number, bytes: number) {
    for (let i = from; i < from + count; i++) this.items.set(`item ${i}`, String(i % 10).repeat(bytes));
    return this.items.size;
  }

  write(text: string) {
    this.label = text;
  }

  add(id: string) {
    this.count += 1;
    this.log.push(id);
    return this.count;
  }

  put(key: string, value: string) {
    this.items.set(key, value);
    return this.items.size;
  }

  seen() {
    let bytes = 0;
    for (const value of this.items.values()) bytes += value.length;
    return { size: this.items.size, bytes, count: this.count, log: this.log, label: this.label.length };
  }
}

export default class Store extends Context {
  shelves = this.children(Shelf);
}
