/** The admin API of the program that this page belongs to. Its types are the server's own. */

import type { ClusterStatus, LogStatus } from "../../src/cluster/index.js";
import type { Notice } from "../../src/dashboard/monitor.js";
import type { EventPage, EventStory, NumberedEvent } from "../../src/dashboard/recent.js";
import type {
  ShownChild as Child,
  ContextLook,
  ShownContext as Outline,
  DashboardOverview as Overview,
} from "../../src/dashboard/routes.js";
import type { Second } from "../../src/dashboard/seconds.js";
import type { DashboardSession } from "../../src/dashboard/streams.js";
import type { EventFact, TrailFact } from "../../src/observe/index.js";
import type { GraphAnswer } from "../../src/streams/http/graph-answer.js";
import type { GraphStream, OutputStatus } from "../../src/streams/service/index.js";

export type {
  Child,
  ClusterStatus,
  ContextLook,
  DashboardSession,
  EventFact,
  EventPage,
  EventStory,
  GraphAnswer,
  GraphStream,
  LogStatus,
  Notice,
  NumberedEvent,
  Outline,
  OutputStatus,
  Overview,
  Second,
  TrailFact,
};

const TOKEN = "headwater.token";

/** What the server said of a request that failed. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export function hasToken(): boolean {
  return sessionStorage.getItem(TOKEN) !== null;
}

export function setToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
}

/** Exchanges the code in the page's address for the token, and takes it out of the address. */
export async function signIn(): Promise<void> {
  const code = /[#&]code=([\w-]+)/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  const response = await fetch("admin/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (response.ok) setToken(((await response.json()) as { token: string }).token);
}

/** Asks for something; `path` is below `admin/`. */
export async function ask(path: string, init: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN) ?? "";
  const response = await fetch(`admin/${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${token}` },
  });
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { code?: string; message?: string };
  };
  throw new Refused(response.status, error?.code ?? "", error?.message ?? `HTTP ${response.status}`);
}

export async function get<T>(
  path: string,
  query: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<T> {
  const search = new URLSearchParams(query).toString();
  const response = await ask(
    search === "" ? path : `${path}?${search}`,
    signal === undefined ? {} : { signal },
  );
  return (await response.json()) as T;
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { "content-type": "application/json" };
  return (await (await ask(path, { method: "POST", headers, body: JSON.stringify(body) })).json()) as T;
}

export async function remove(path: string): Promise<void> {
  await ask(path, { method: "DELETE" });
}

/** Reads lines of JSON as they come, until the connection ends. */
export async function follow(
  path: string,
  line: (value: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  await followLines(await ask(path, { signal }), (text) => line(JSON.parse(text)));
}

/** Reads the lines of a response as they come, empty ones aside, until the connection ends. */
export async function followLines(response: Response, line: (text: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const each of lines) if (each !== "") line(each);
  }
}
