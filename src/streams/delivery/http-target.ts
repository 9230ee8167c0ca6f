import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { rootCertificates } from "node:tls";
import { type AddressPolicy, allowedAddresses, checkedLookup } from "./addresses.js";
import type { OutputDefinition } from "./definition.js";
import { type Batched, keyOf, type OutputTarget, TryLater, Undeliverable } from "./target.js";

const ANSWER_BYTES_MAX = 64 * 1024;
const SHOWN_MAX = 200;
const AFTER_MS_MAX = 5 * 60_000;

/** Answers that say "not now" and not "never". */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Batches as the bodies of POST requests, NDJSON. Delivered is what was answered with a 2xx. The header Idempotency-Key is the same for
 * every attempt at a batch, and no other batch has it. Redirects are not followed: they could lead where targets may not be.
 */
export class HttpTarget implements OutputTarget {
  readonly format = "ndjson";
  readonly isKeyed = true;
  readonly #url: URL;
  readonly #agent: HttpAgent;

  constructor(
    readonly definition: OutputDefinition,
    readonly policy: AddressPolicy,
  ) {
    this.#url = new URL(definition.target);
    const options = { keepAlive: true, maxSockets: 1, lookup: checkedLookup(policy) };
    this.#agent =
      this.#url.protocol === "https:"
        ? new HttpsAgent({ ...options, ...trusted(policy) })
        : new HttpAgent(options);
  }

  async send(batch: Batched, signal: AbortSignal): Promise<null> {
    const body = Buffer.from(`${batch.lines.join("\n")}\n`);
    await allowedAddresses(this.#url.hostname, this.policy); // an address that stands in the URL is not looked up
    const { status, text, retryAfter } = await this.#post(body, batch, signal);
    if (status >= 200 && status < 300) return null;
    const said = `the target answered ${status}${text === "" ? "" : `: ${text}`}`;
    if (status >= 300 && status < 400)
      throw new Undeliverable(`${said}. Redirects are not followed; register the address that it leads to.`);
    if (status < 500 && !NOT_NOW.has(status)) throw new Undeliverable(said);
    throw new TryLater(said, afterMs(retryAfter));
  }

  #post(body: Buffer, batch: Batched, signal: AbortSignal) {
    const headers = {
      ...this.definition.secrets,
      "content-type": "application/x-ndjson; charset=utf-8",
      "content-length": body.length,
      "idempotency-key": JSON.stringify(keyOf(batch)),
      "x-headwater-first": batch.first,
      "x-headwater-next": batch.next,
    };
    const request = this.#url.protocol === "https:" ? requestHttps : requestHttp;
    return new Promise<{ status: number; text: string; retryAfter: string | null }>((resolve, reject) => {
      const sent = request(this.#url, { method: "POST", headers, agent: this.#agent, signal }, (response) => {
        answerOf(response).then(
          (text) =>
            resolve({
              status: response.statusCode ?? 0,
              text,
              retryAfter: response.headers["retry-after"] ?? null,
            }),
          reject,
        );
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }

  async close(): Promise<void> {
    this.#agent.destroy();
  }
}

function trusted({ ca }: AddressPolicy): { ca?: string[] } {
  return ca === undefined ? {} : { ca: [...rootCertificates, ca] };
}

/** The beginning of an answer, on one line. An answer counts only when it is complete. */
async function answerOf(response: IncomingMessage): Promise<string> {
  let [text, bytes] = ["", 0];
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (text.length < SHOWN_MAX) text += (chunk as Buffer).toString("utf8");
    if (bytes > ANSWER_BYTES_MAX) {
      response.destroy();
      break;
    }
  }
  return text
    .slice(0, SHOWN_MAX)
    .replace(/\p{Cc}+/gu, " ")
    .trim();
}

/** `Retry-After` is a number of seconds, or a date. */
function afterMs(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\d{1,9}$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), AFTER_MS_MAX);
}
