import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

/** Runs a program in a process that may have so few descriptors; returns the lines that it prints. */
function limited(t: TestContext, descriptors: number, name: string) {
  const program = fileURLToPath(new URL(`./programs/${name}`, import.meta.url));
  const command = `ulimit -n ${descriptors} && exec "$0" --import tsx "$1"`;
  const child = spawn("sh", ["-c", command, process.execPath, program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

test("a host that cannot be spawned is tried again until it can, and its events wait for it", async (t) => {
  const { child, lines } = limited(t, 128, "exhausted.ts");
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const said: string[] = [];
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) said.push(line.value);
  assert.equal(await ended, 0, said.join("\n"));
  assert.match(
    said.join("\n"),
    /HW-6030: host 0 could not be started: spawn .* EMFILE.* next try is in 100 ms/,
  );
  assert.equal(said.at(-1), "added 2");
});

test("connections leave the descriptors that hosts need", async (t) => {
  const { child, lines } = limited(t, 192, "served.ts");
  const { value: port } = await lines.next();
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const replies = new Map<Socket, string>();
  let refused = 0;
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 400; i++) {
      const socket = connect(Number(port), "127.0.0.1");
      sockets.push(socket);
      socket.on("data", (some) => replies.set(socket, (replies.get(socket) ?? "") + some));
      socket.on("error", () => {});
      socket.on("close", () => {
        refused += 1;
        if (refused >= 200) resolve(); // those that are let in stay
      });
    }
  });
  assert.ok([...replies.values()].some((reply) => /^HTTP\/1\.1 503 .*HW-4013/s.test(reply)));
  child.stdin.write("kill\n");
  const { value: told } = await lines.next();
  assert.equal(told, "replaced"); // while those connections are open
});
