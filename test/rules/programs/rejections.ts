import { pathToFileURL } from "node:url";
import { Context, isHost, run } from "headwater";

/** Rejections that nobody handles, in different places. */
class Leaf extends Context {
  breaks(): never {
    throw new Error("the leaf is broken");
  }
}

export default class Root extends Context {
  leaf = this.child(Leaf);

  breaks(): never {
    throw new Error("the method is broken");
  }
  async leaves() {
    void (async () => {
      throw new Error("the method is broken");
    })();
  }
  async asks() {
    void (async () => this.leaf.breaks())();
  }
  goesOn() {
    return "went on";
  }
}

const [where, hosts = "1"] = process.argv.slice(2);

async function main(): Promise<void> {
  const module = pathToFileURL(process.argv[1] ?? "").href;
  let told = () => {};
  const warned = new Promise<void>((resolve) => {
    told = resolve;
  });
  const { root, stop } = await run(Root, {
    hosts: Number(hosts),
    module,
    onWarning: ({ message }) => {
      console.error(message);
      told();
    },
  });
  if (where === "application") void Promise.reject(new Error("the application is broken"));
  if (where === "request") void root.breaks();
  if (where === "method") await root.leaves();
  else if (where === "call") await root.asks();
  else return;
  await warned;
  console.log(await root.goesOn());
  await stop();
}

if (!isHost()) await main();
