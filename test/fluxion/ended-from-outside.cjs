// When the harness closes this pipe, the program ends as if it had called `process.exit()` itself.
const { Socket } = require("node:net");
const { isMainThread } = require("node:worker_threads");

if (isMainThread) {
  const pipe = new Socket({ fd: 3, readable: true, writable: false });
  pipe.on("close", () => process.exit());
  pipe.resume();
  pipe.unref();
}
