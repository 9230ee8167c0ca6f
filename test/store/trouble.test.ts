import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Context, expose, readonly, run, serve } from "headwater";
import { connect } from "headwater/client";
import { packageWith, ROOT, Running, runHere } from "../cli/headwater.js";
import { temporaryDirectory } from "./support.js";

class Note extends Context<string> {
  text = "";

  write(text: string) {
    this.text = text;
  }

  @readonly read() {
    return this.text;
  }
}

class Notes extends Context {
  notes = this.children(Note);
}

/** The same as a program of its own. */
const NOTES = `
  import { Context, expose } from "headwater";
  class Note extends Context<string> {
    text = "";
    write(text: string) { this.text = text; }
  }
  export default class Notes extends Context { notes = this.children(Note); }
  export const api = expose(Notes, {
    write: (root, name: string, text: string) => root.notes(name).write(text),
  });
`;

interface NotesApi {
  write(name: string, text: string): Promise<void>;
}

function urlOf({ stderr }: Running): string {
  return /Listening on (\S+)/.exec(stderr)?.[1] ?? "";
}

test("the journal of another program is refused, and stays as it was", async (t) => {
  const journal = await temporaryDirectory(t);
  const service = await run(Notes, { journal });
  await service.root.notes("a").write("mine");
  await service.stop();
  const other = await runHere(ROOT, "run", "examples/kv", "--journal", journal);
  assert.deepEqual([other.exitCode, other.stdout], [1, ""]);
  assert.match(other.stderr, /^error HW-3002: .*"Notes"/m);
  await using again = await run(Notes, { journal });
  assert.equal(await again.root.notes("a").read(), "mine");
});

test("a journal with a damaged group is refused at the start with the place of the damage", async (t) => {
  const journal = await temporaryDirectory(t);
  const service = await run(Notes, { journal });
  await service.root.notes("a").write("the text of a");
  await service.root.notes("b").write("the text of b");
  await service.stop();
  const [name = ""] = readdirSync(join(journal, "log"));
  const file = join(journal, "log", name);
  const bytes = readFileSync(file);
  bytes[bytes.indexOf("text of a")] = 84;
  writeFileSync(file, bytes);
  await assert.rejects(run(Notes, { journal }), { code: "HW-3004", message: /group \d+ is lost \(log\/\d/ });
});

test("a service whose journal another process has taken over says so and ends", async (t) => {
  const folder = packageWith(t, { "notes.ts": NOTES });
  const journal = join(folder, "journal");
  const running = new Running(["run", "notes", "--port", "0", "--journal", journal], folder);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("Listening on ");
  using client = connect(urlOf(running));
  const api = client.api as NotesApi;
  await api.write("a", "by the first");

  await using second = await run(Notes, { journal, takeOver: true });
  await second.root.notes("a").write("by the second");
  // If it was asked for nothing for a second, it has noticed by itself and is gone.
  await assert.rejects(api.write("a", "by the first again"), { code: /^HW-(3005|4017|4018|4023)$/ });
  const { exitCode, stderr } = await running.ended;
  assert.equal(exitCode, 1);
  assert.match(stderr, /^error HW-3005: .*taken it over/m);
  assert.equal(await second.root.notes("a").read(), "by the second");
});

test("without the command line, onFailure hears it, whoever waits is told, and stopping takes no time", async (t) => {
  const journal = await temporaryDirectory(t);
  const failures: string[] = [];
  const first = await run(Notes, { journal, onFailure: ({ code }) => failures.push(code) });
  await first.root.notes("a").write("by the first");
  await using second = await run(Notes, { journal, takeOver: true });
  const refused = [1, 2, 3].map(() =>
    assert.rejects(first.root.notes("a").write("more"), { code: "HW-3005" }),
  );
  await Promise.all(refused);
  await assert.rejects(first.root.notes("b").read(), { code: "HW-3005" });
  await assert.rejects(first.idle(), { code: "HW-3005" });
  const api = expose(Notes, { write: (root, name: string, text: string) => root.notes(name).write(text) });
  await using server = await serve(first, api);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}/api/write`, { method: "POST", headers, body: '["a", "b"]' });
  const { error } = (await response.json()) as { error: { code: string } };
  assert.deepEqual([response.status, error.code], [503, "HW-3005"]);
  await first.stop({ graceMs: 1_000_000 });
  assert.deepEqual(failures, ["HW-3005"]);
  assert.equal(await second.root.notes("a").read(), "by the first");
});

/** A file that may not grow beyond this is refused its room as on a full disk. */
const FILE_BLOCKS_MAX = 8192;

test("when the disk is full, requests are refused, and all that was acknowledged is there when there is room again", async (t) => {
  const folder = packageWith(t, { "notes.ts": NOTES });
  const journal = join(folder, "journal");
  const command = ["run", "notes", "--port", "0", "--journal", journal];
  const running = new Running(command, folder, `ulimit -f ${FILE_BLOCKS_MAX}`);
  t.after(() => running.interrupt("SIGKILL"));
  await running.hasWritten("Listening on ");
  using client = connect(urlOf(running));
  const api = client.api as NotesApi;
  const acknowledged: string[] = [];
  const textOf = (name: string) => name.padEnd(20_000, ".");
  const failure = await (async () => {
    for (let i = 0; ; i++) await api.write(`${i}`, textOf(`${i}`)).then(() => acknowledged.push(`${i}`));
  })().catch((error: unknown) => error);
  assert.equal((failure as { code?: string }).code, "HW-3026", String(failure));
  assert.ok(acknowledged.length > 10);
  running.interrupt("SIGKILL");
  await running.ended;

  await using again = await run(Notes, { journal });
  for (const name of acknowledged) assert.equal(await again.root.notes(name).read(), textOf(name));
  await again.root.notes("0").write("there is room");
});
