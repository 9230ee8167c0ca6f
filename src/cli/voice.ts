import { relative } from "node:path";
import type { Decision } from "../elastic/policy.js";
import { HeadwaterError } from "../errors.js";
import type { FailedEvent } from "../observe/index.js";
import type { HostRange } from "./hosts-option.js";
import type { LoadedProgram } from "./program.js";
import { messageOf, whereabouts } from "./report.js";
import { paint, type Terminal } from "./terminal.js";

/** How a run tells what goes on: in sentences for people, or as JSON lines for programs. */
export interface Voice {
  /** `journal` is the directory that keeps what it knows, if one does. */
  running(program: LoadedProgram, hosts: HostRange, journal?: string): void;
  /** The program can be reached from outside. */
  listening(url: string): void;
  /** The address that opens the dashboard and signs it in, once. */
  dashboard(url: string): void;
  /** A line that the program itself printed. */
  print(line: string): void;
  /** An event failed, and no caller in this process waited for it. */
  failure(failed: FailedEvent): void;
  /** Something was done about the hosts. */
  decision(decision: Decision): void;
  note(text: string): void;
}

const CAUSES: Record<FailedEvent["startedBy"], string> = {
  start: "started by an event",
  timer: "by a timer",
  message: "by a message",
  outside: "with the result of an outside call",
  request: "by a request",
  parked: "again, after it had been parked,",
};

export function plainVoice(terminal: Terminal): Voice {
  const aside = (text: string) => terminal.say(paint(terminal, "dim", text));
  return {
    running: (program, hosts, journal) => {
      const nodes = Object.entries(nodesOf(program)).map(([name, root]) => `${root} (logical node ${name})`);
      const what = typeof program.roots === "function" ? program.roots.name : nodes.join(", ");
      const where = journal === undefined ? "in memory" : `with the journal ${journal}`;
      aside(
        `Running ${what} from ${relative(process.cwd(), program.file)}, on ${shown(hosts)}, ${where}. Ctrl-C stops it.`,
      );
    },
    listening: (url) => terminal.say(`Listening on ${url}`),
    dashboard: (url) => terminal.say(`Dashboard: ${url}`),
    print: (line) => terminal.out(line),
    failure: ({ context, method, startedBy, error, unreported }) => {
      const where = `${context}.${method} (${CAUSES[startedBy]})`;
      terminal.say(`${paint(terminal, "yellow", "event failed")} ${where}: ${titleOf(error)}`);
      for (const line of whereabouts(error)) aside(line);
      if (unreported > 0) aside(`    ${unreported} more failed like it since the last report`);
    },
    decision: ({ text }) => aside(`Hosts: ${text}.`),
    note: aside,
  };
}

export function jsonVoice(terminal: Terminal): Voice {
  const line = (kind: string, facts: object) => terminal.out(JSON.stringify({ kind, ...facts }));
  return {
    running: (program, hosts, journal) =>
      line("running", {
        program: program.file,
        nodes: nodesOf(program),
        hosts: hosts.min === hosts.max ? hosts.min : hosts,
        journal,
      }),
    listening: (url) => line("listening", { url }),
    dashboard: (url) => line("dashboard", { url }),
    print: (text) => line("print", { line: text }),
    failure: ({ error, ...where }) =>
      line("failure", { ...where, ...namesOf(error), message: messageOf(error), stack: whereabouts(error) }),
    decision: ({ action, text, error }) =>
      line("decision", { action, text, ...(error === null ? {} : { error: messageOf(error) }) }),
    note: (text) => line("note", { text }),
  };
}

function namesOf(error: unknown): object {
  if (error instanceof HeadwaterError) return { code: error.code };
  return error instanceof Error ? { name: error.name } : {};
}

/** Most errors say what is wrong; which kind it is helps with those of JavaScript itself. */
function titleOf(error: unknown): string {
  const isPlain = !(error instanceof Error) || error instanceof HeadwaterError || error.name === "Error";
  return isPlain ? messageOf(error) : `${error.name}: ${messageOf(error)}`;
}

function shown({ min, max }: HostRange): string {
  if (min === max) return min === 1 ? "one host" : `${min} hosts`;
  return `${min} to ${max} hosts`;
}

function nodesOf({ roots }: LoadedProgram): Record<string, string> {
  if (typeof roots === "function") return { [roots.name]: roots.name };
  return Object.fromEntries(Object.entries(roots).map(([name, root]) => [name, root.name]));
}
