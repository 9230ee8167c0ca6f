import { createInterface } from "node:readline";
import { Context, readonly, run } from "headwater";

/**
 * Notes with a journal, driven by lines of JSON: `["write", name, text]`, `["read", name]`, `["later", name, ms]`. Each is answered
 * by a line `[number of the command, "ok" | code, value]`, and a timer that goes off says `["rung NAME"]`.
 */

class Note extends Context<string> {
  text = "";
  rung = 0;

  write(text: string) {
    this.text = text;
  }

  @readonly read() {
    return [this.text, this.rung];
  }

  later(ms: number) {
    this.event.after(ms, this.ring);
    return this.event.time;
  }

  ring() {
    this.rung += 1;
    say(`rung ${this.key}`);
  }
}

class Notes extends Context {
  notes = this.children(Note);
}

const [journal = ""] = process.argv.slice(2);
function say(...said: unknown[]): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

const service = await run(Notes, {
  journal,
  onFailure: (error) => say("failed", (error as { code?: string }).code),
});
say("ready");
let count = 0;
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const number = count++;
  const [what, name, value] = JSON.parse(line) as [string, string, never];
  const note = service.root.notes(name);
  const answer: Promise<unknown> =
    what === "write" ? note.write(value) : what === "later" ? note.later(value) : note.read();
  answer.then(
    (result) => say(number, "ok", result),
    (error: { code?: string; message: string }) => say(number, error.code ?? error.message),
  );
});
lines.on("close", () => void service.stop());
