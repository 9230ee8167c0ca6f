import { readFile } from "node:fs/promises";
import type { StreamsClient } from "../streams/client/index.js";
import { type Arguments, misused, unreadable } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { Terminal } from "./terminal.js";

/** What one command line asks of a service. */
export interface Use {
  readonly command: CliCommand;
  readonly args: Arguments;
  readonly terminal: Terminal;
  readonly client: StreamsClient;
}

/** `headwater streams output …` and `source …`: what takes rows out and in by itself. */
export async function useDoors(use: Use, kind: "outputs" | "sources"): Promise<void> {
  const { command, args, terminal, client } = use;
  const [word = "", action = "", name, last] = args.operands;
  const doors = client[kind];
  const isJson = args.flags.has("json");
  switch (action) {
    case "add": {
      const [stream, place] = [nameIn(command, name), nameIn(command, last)];
      const id = await doors.register(stream, {
        ...(kind === "outputs" ? { target: place } : { from: place }),
        ...(await optionsOf(command, args)),
      });
      return terminal.out(isJson ? JSON.stringify({ id }) : id);
    }
    case "list":
      for (const { secrets: _, ...each } of await doors.list())
        terminal.out(isJson ? JSON.stringify(each) : lineOf(each));
      return;
    case "show":
      return terminal.out(JSON.stringify(await doors.status(nameIn(command, name))));
    case "remove":
      return await doors.deregister(nameIn(command, name));
  }
  if (kind === "outputs")
    switch (action) {
      case "dead-letters":
        for (const letter of await client.outputs.deadLetters(nameIn(command, name)))
          terminal.out(isJson ? JSON.stringify(letter) : letterLine(letter));
        return;
      case "replay":
        return await client.outputs.replay(nameIn(command, name), numberOf(command, last));
      case "drop":
        return await client.outputs.drop(nameIn(command, name), numberOf(command, last));
    }
  const letters = kind === "outputs" ? ", dead-letters NAME, replay NAME NUMBER, drop NAME NUMBER" : "";
  throw misused(command, `${word} takes add STREAM TARGET, list, show NAME, remove NAME${letters}.`);
}

/** Secrets stand in a file: what stands on a command line can be read by all users of a machine. */
async function optionsOf(command: CliCommand, { values, flags }: Arguments) {
  const [name, file] = [values.get("name"), values.get("secrets-file")];
  const named = name === undefined ? {} : { name };
  const acks = flags.has("acks") ? { acks: true } : {};
  if (file === undefined) return { ...named, ...acks };
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw unreadable(command, file, error);
  }
  try {
    return { ...named, ...acks, secrets: JSON.parse(text) as unknown };
  } catch {
    throw misused(command, "--secrets-file names a file with a JSON object of texts.");
  }
}

function lineOf({ name, stream, target, from, lag, deadLetters, rows, lastError }: Record<string, unknown>) {
  const where =
    target === undefined ? `${String(from)} → ${String(stream)}` : `${String(stream)} → ${String(target)}`;
  const state =
    target === undefined ? `${String(rows)} rows` : `lag ${String(lag)}, ${String(deadLetters)} dead letters`;
  const error = lastError === null || lastError === undefined ? "" : `, last error: ${messageOf(lastError)}`;
  return `${String(name)}: ${where}, ${state}${error}`;
}

function messageOf(error: unknown): string {
  const message: unknown =
    typeof error === "object" && error !== null ? Reflect.get(error, "message") : error;
  return String(message);
}

function letterLine({ first, next, error }: { first: number; next: number; error: string }): string {
  return `${first}: rows ${first} to ${next - 1}, ${error}`;
}

function numberOf(command: CliCommand, text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  throw misused(command, "A dead letter is named by the number of its first row.");
}

export function nameIn(command: CliCommand, name: string | undefined): string {
  if (name !== undefined) return name;
  throw misused(command, "The name is missing.");
}
