/** What the monitoring of a NATS server (`http: …` in its configuration) says of its JetStream. */
export interface MonitoredServer {
  /** As it may be shown. */
  readonly url: string;
  /** `always`, or how often files are synced. */
  readonly sync: string;
  /** Why it could not be asked; null if it could. */
  readonly problem: string | null;
}

const ASK_MS = 3000;
const NANOSECONDS_PER_SECOND = 1e9;

export function monitoredServers(urls: readonly string[]): Promise<MonitoredServer[]> {
  return Promise.all(urls.map(ask));
}

async function ask(text: string): Promise<MonitoredServer> {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    return { url: "one of the addresses", sync: "", problem: "it is no http address" };
  const shown = url.host;
  try {
    const response = await fetch(new URL("/jsz?config=true", url), { signal: AbortSignal.timeout(ASK_MS) });
    const { config } = (await response.json()) as {
      config?: { sync_always?: boolean; sync_interval?: number };
    };
    if (config === undefined) return { url: shown, sync: "", problem: "it has no JetStream" };
    if (config.sync_always === true) return { url: shown, sync: "always", problem: null };
    const seconds = (config.sync_interval ?? 0) / NANOSECONDS_PER_SECOND;
    return { url: shown, sync: `every ${seconds} s`, problem: null };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { url: shown, sync: "", problem: cause?.code ?? message };
  }
}
