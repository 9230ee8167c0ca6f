/** Half of the counters, for an actor that is a thread; comedy loads it there by its path. */
module.exports = class Counters {
  initialize() {
    this.counts = new Map();
    this.sink = 0;
  }

  /** The work is that of `work.ts`, which a thread of comedy cannot load. */
  bump({ counter, work }) {
    let x = this.sink;
    for (let step = work * 1000; step > 0; step--) x = (Math.imul(x, 1664525) + 1013904223) | 0;
    this.sink = x;
    const count = (this.counts.get(counter) ?? 0) + 1;
    this.counts.set(counter, count);
    return count;
  }

  count() {
    let sum = 0;
    for (const count of this.counts.values()) sum += count;
    return sum;
  }
};
