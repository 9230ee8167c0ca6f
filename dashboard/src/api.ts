/** The admin API of the program that this page belongs to. Types are those of `src/dashboard/routes.ts`, as JSON has them. */

export interface HostInfo {
  readonly id: number;
  readonly state: "starting" | "running" | "draining";
  readonly contexts: number;
  readonly events: number;
  readonly restarts: number;
  readonly load: {
    readonly utilisation: number;
    readonly heapBytes: number;
    readonly eventsPerSecond: number;
    readonly queueMs: number;
    readonly p99Ms: number;
  } | null;
}

export interface Second {
  readonly atMs: number;
  readonly events: number;
  readonly failed: number;
  readonly refused: number;
  readonly restarts: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  readonly waitedMs: number | null;
  readonly ranMs: number | null;
  readonly journaledMs: number | null;
  readonly commits: number;
  readonly commitP99Ms: number | null;
}

export interface HostNotice {
  readonly kind: "host";
  readonly atMs: number;
  readonly host: number;
  readonly what: "joined" | "lost" | "draining" | "removed";
  readonly why: string | null;
}

export interface MigrationNotice {
  readonly kind: "migration";
  readonly atMs: number;
  readonly context: string;
  readonly from: number;
  readonly to: number;
  readonly step: "copying" | "waiting" | "locked" | "moved" | "failed";
}

export interface TextNotice {
  readonly kind: "note";
  readonly atMs: number;
  readonly text: string;
}

export type Notice = HostNotice | MigrationNotice | TextNotice;

export interface Overview {
  readonly program: string;
  readonly journal: string | null;
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly node: string;
  readonly pid: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly canKill: boolean;
  readonly load: number;
  readonly roots: readonly string[];
  readonly hosts: readonly HostInfo[] | null;
  readonly seconds: readonly Second[];
  readonly notices: readonly Notice[];
}

export interface Busy {
  readonly address: string;
  readonly host: number | null;
  readonly perSecond: number;
  readonly failedPerSecond: number;
}

export interface Outline {
  readonly address: string;
  readonly className: string;
  readonly fields: readonly string[];
  readonly children: readonly {
    readonly field: string;
    readonly className: string;
    readonly isSingle: boolean;
  }[];
  readonly host: number | null;
  readonly busy: Busy | null;
}

export interface Child {
  readonly address: string;
  readonly host: number | null;
  readonly busy: Busy | null;
}

export interface EventFact {
  readonly atMs: number;
  readonly node: string;
  readonly ticket: number;
  readonly context: string;
  readonly method: string;
  readonly startedBy: string;
  readonly parent: number | null;
  readonly caller: string | null;
  readonly ok: boolean;
  readonly error: string | null;
  readonly attempts: number;
  readonly host: number | null;
  readonly waitedMs: number;
  readonly ranMs: number;
  readonly journaledMs: number;
  readonly totalMs: number;
}

export interface Story {
  readonly event: EventFact;
  readonly waits: readonly { readonly context: string; readonly for: number; readonly forContext: string }[];
  readonly started: readonly EventFact[];
}

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

async function ask(path: string, init: RequestInit): Promise<Response> {
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

/** Reads lines of JSON as they come, until the connection ends. */
export async function follow(
  path: string,
  line: (value: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await ask(path, { signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const each of lines) if (each !== "") line(JSON.parse(each));
  }
}
