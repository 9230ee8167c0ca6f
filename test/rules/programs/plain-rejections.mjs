import { Context, run } from "headwater";

/** Is run by plain Node too, so it has neither types nor decorators. Each method leaves one rejection behind. */

async function helper(what) {
  await null;
  void Promise.reject(new Error(`${what} is broken`));
}

function deep(levels, what) {
  if (levels > 0) return deep(levels - 1, what);
  void Promise.reject(new Error(`${what} is broken`));
}

class Leaf extends Context {
  async later(what) {
    await null;
    void Promise.reject(new Error(`${what} is broken`));
  }
}

const Nameless = (() =>
  class extends Context {
    async later(what) {
      await null;
      void Promise.reject(new Error(`${what} is broken`));
    }
  })();

class Desk extends Context {
  leaf = this.child(Leaf);
  nameless = this.child(Nameless);

  atOnce(what) {
    void Promise.reject(new Error(`${what} is broken`));
  }
  calls(what) {
    deep(5, what);
  }
  async later(what) {
    await null;
    void Promise.reject(new Error(`${what} is broken`));
  }
  async awaits(what) {
    await helper(what);
  }
  async maps(what) {
    await Promise.all([what].map(helper));
  }
  async afterCall(what) {
    await this.leaf.later("the leaf");
    void Promise.reject(new Error(`${what} is broken`));
  }
  async below(what) {
    await this.nameless.later(what);
  }
}

const warnings = [];
let isEnough = () => {};
const { root, stop } = await run(Desk, {
  onWarning: ({ message }) => {
    warnings.push(
      /HW-1028: a promise was rejected in (\S+),.*? It was: Error: (.*) is broken/s.exec(message)?.slice(1),
    );
    if (warnings.length === 8) isEnough();
  },
});
const enough = new Promise((resolve) => {
  isEnough = resolve;
});
for (const method of ["atOnce", "calls", "later", "awaits", "maps", "afterCall", "below"])
  await root[method](method);
await enough;
console.log(JSON.stringify(warnings));
await stop();
