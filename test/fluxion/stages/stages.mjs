// A module for workers as the linker generates them, written by hand.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { threadId } from "node:worker_threads";

function render(text) {
  if (text === "bad") throw new TypeError("cannot render bad");
  return `<p>${text}</p>`;
}

let atOnce = 0;

export const stages = {
  render: ([text]) => render(text),
  handler([query], [res]) {
    res
      .status(201)
      .set("x-thread", "some")
      .json({ html: render(query.text), query });
  },
  throwsLate(_, [res, out]) {
    out.log("before");
    res.status(500);
    throw Object.assign(new RangeError("late"), { code: "E_LATE", status: 418 });
  },
  middleware([text], [req, next]) {
    const body = { text };
    req.body = body;
    req.again = body;
    body.length = text.length;
    next();
  },
  mutatesAfter(_, [res]) {
    const rows = [1];
    res.json(rows);
    rows.push(2);
    res.json(rows);
  },
  echo: ([value]) => value,
  echoAll: (values) => values,
  effects([text, number, nothing], [res, out]) {
    out.log();
    res.send(text, number, nothing);
    res.body = nothing;
    return res.type("html");
  },
  spin([ms]) {
    const until = performance.now() + ms;
    while (performance.now() < until) createHash("sha1").update("x").digest();
    return threadId;
  },
  async later([ms]) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return threadId;
  },
  /** Says how many are at it. */
  async alone() {
    atOnce += 1;
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    return atOnce--;
  },
  returnsFunction: () => () => 1,
  returnsInstance: () => new (class Own {})(),
  readsBack(_, [res]) {
    try {
      return res.headersSent;
    } catch {
      return "caught";
    }
  },
  returnsReceiver: (_, [res]) => res.status(200),
  exits: () => process.exit(3),
  /** Keeps its thread until there is such a file. */
  waitsFor([path, begun]) {
    if (begun !== undefined) appendFileSync(begun, "");
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(path)) Atomics.wait(pause, 0, 0, 5);
    return path;
  },
  waitsAndExits([path]) {
    stages.waitsFor([path]);
    process.exit(3);
  },
  notes([path, what]) {
    appendFileSync(path, what);
    return what;
  },
  exhausts() {
    const all = [];
    for (;;) all.push(new Array(1_000_000).fill(all.length));
  },
};
