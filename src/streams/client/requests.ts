import { HeadwaterError, mayRetry } from "../../errors.js";
import { errorFrom } from "../../protocol/index.js";

export interface ClientOptions {
  /** Says who is calling; a function is asked before each request. It never becomes part of an address. */
  readonly token: string | (() => string | Promise<string>);
  /** How long a request is tried again after lost connections and refusals that pass. 30 seconds unless told otherwise. */
  readonly retryMs?: number;
  /** How long to wait before the second try; each failure doubles it, up to 5 seconds. */
  readonly backoffMs?: number;
  readonly fetch?: typeof fetch;
}

export interface StreamRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const RETRY_MS = 30_000;
const BACKOFF_MS = 50;
const BACKOFF_MS_MAX = 5000;

/** StreamRequests to one server, tried again where that has no second effect. */
export class StreamRequests {
  readonly #base: string;
  readonly #options: ClientOptions;

  constructor(url: string, options: ClientOptions) {
    this.#base = baseOf(url);
    this.#options = options;
  }

  /** The JSON of the answer. What changes something must bear being sent twice. */
  async json<T>(request: StreamRequest): Promise<T> {
    const response = await this.retried(request);
    return (await response.json()) as T;
  }

  /** Sends the request until it is answered, or the time is over. */
  async retried(request: StreamRequest): Promise<Response> {
    const endMs = Date.now() + (this.#options.retryMs ?? RETRY_MS);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.once(request);
      } catch (error) {
        const isLost = !(error instanceof HeadwaterError);
        if (request.signal?.aborted === true || !(isLost || mayRetry(error)) || Date.now() >= endMs)
          throw error;
        await this.pause(attempt, request.signal);
      }
    }
  }

  /** Sends the request. Throws what the server refuses it with, or HW-4018 if there is no server. */
  async once({ method, path, body, headers = {}, signal }: StreamRequest): Promise<Response> {
    const { token, fetch: ask = fetch } = this.#options;
    const authorization = `Bearer ${typeof token === "string" ? token : await token()}`;
    const response = await ask(`${this.#base}${path}`, {
      method,
      headers: { ...headers, authorization },
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.ok) return response;
    throw await refusalOf(response);
  }

  /** Waits longer from attempt to attempt, and not as long as others that lost the same server. */
  async pause(attempt: number, signal?: AbortSignal): Promise<void> {
    const ms = Math.min((this.#options.backoffMs ?? BACKOFF_MS) * 2 ** attempt, BACKOFF_MS_MAX);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
      signal?.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}

async function refusalOf(response: Response): Promise<Error> {
  const text = await response.text();
  try {
    return errorFrom((JSON.parse(text) as { readonly error?: unknown }).error);
  } catch {
    return new Error(`the server answered ${response.status} without saying why`); // a proxy, perhaps
  }
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.search === "" && parsed.username === "")
    return url.replace(/\/$/, "");
  throw new HeadwaterError(
    "HW-4018",
    "cannot connect: the address of a server begins with http:// or https:// and has no token in it; pass that as an option.",
  );
}
