import { createHash, timingSafeEqual } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HeadwaterError } from "../errors.js";
import { type AnyService, HOSTS } from "../host/service.js";
import { DOOR } from "../model/door.js";
import { isLoopback, Origins } from "../server/origin.js";
import { refuse } from "../server/respond.js";
import { logFacts, Metrics, type MetricsOptions } from "../telemetry/index.js";
import { type Arguments, misused } from "./arguments.js";
import type { CliCommand } from "./command.js";
import type { LogSettings } from "./telemetry-options.js";

/** The environment variable with the token that `/metrics` asks for. */
const METRICS_TOKEN = "HEADWATER_METRICS_TOKEN";
const PATH = "/metrics";

/** `GET /metrics` at a port: for callers with the token, or for this machine if no token is set. */
export class MetricsPlace {
  readonly #metrics: Metrics;
  readonly #digest: Buffer | null;
  readonly #origins: Origins;

  constructor(service: AnyService, isLocal: boolean, more?: MetricsOptions["more"]) {
    const token = process.env[METRICS_TOKEN];
    this.#digest = token === undefined || token === "" ? null : digestOf(token);
    this.#origins = new Origins([], isLocal);
    this.#metrics = new Metrics(service, {
      hosts: () => service[HOSTS]?.list() ?? [],
      isHealthy: async () => (await service[DOOR].health()) === null,
      ...(more === undefined ? {} : { more }),
    });
  }

  /** Answers requests for the figures; says whether this was one. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.url !== PATH) return false;
    this.#answer(request, response).catch((error: unknown) => refuse(request, response, error, 0));
    return true;
  }

  close(): void {
    this.#metrics.stop();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD")
      throw new HeadwaterError("HW-4005", "figures are asked for with GET.");
    this.#origins.check(request);
    this.#check(request);
    const body = Buffer.from(await this.#metrics.text());
    response.writeHead(200, {
      "content-type": this.#metrics.type,
      "content-length": body.length,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    response.end(request.method === "HEAD" ? undefined : body);
  }

  #check({ headers: { authorization = "", host = "" } }: IncomingMessage): void {
    if (this.#digest === null) {
      // A web page whose name was made to lead to this machine (DNS rebinding) gets nothing.
      const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
      if (isLoopback(name)) return;
      throw new HeadwaterError(
        "HW-4012",
        "the request names another server than this one in its Host header.",
      );
    }
    const token = /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(authorization)?.[1] ?? "";
    if (!timingSafeEqual(digestOf(token), this.#digest))
      throw new HeadwaterError("HW-4010", "the request has not the token of the metrics.");
  }
}

/** Other machines get figures only with a token. */
export function checkMetrics(command: CliCommand, { flags }: Arguments, host: string): void {
  if (!flags.has("metrics") || isLoopback(host) || (process.env[METRICS_TOKEN] ?? "") !== "") return;
  throw misused(
    command,
    `--metrics would show figures to every machine that can connect. Set a token in ${METRICS_TOKEN}, or serve on 127.0.0.1.`,
  );
}

/** Writes the log until it is closed. A disk that is slow makes the log miss facts, which it says, and nothing else wait. */
export async function openLog(
  command: CliCommand,
  settings: LogSettings | null,
  service: AnyService,
): Promise<{ close(): Promise<void> }> {
  if (settings === null) return { close: async () => {} };
  const { file, level } = settings;
  const stream = file === "-" ? process.stderr : await opened(command, file);
  const write = (line: string) =>
    new Promise<void>((resolve) => {
      stream.write(`${line}\n`, () => resolve());
    });
  const log = logFacts(service, { level, write });
  return {
    close: async () => {
      log.stop();
      if (stream !== process.stderr) await new Promise<void>((resolve) => stream.end(resolve));
    },
  };
}

async function opened(command: CliCommand, file: string): Promise<WriteStream> {
  const stream = createWriteStream(file, { flags: "a", mode: 0o600 });
  await new Promise<void>((resolve, reject) => {
    stream.once("open", () => resolve());
    stream.once("error", ({ message }) => reject(misused(command, `${file} cannot be written: ${message}.`)));
  });
  stream.on("error", () => {}); // a full disk costs lines of the log, and nothing else
  return stream;
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
