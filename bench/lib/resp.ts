import { once } from "node:events";
import { createConnection, type Socket } from "node:net";

type Reply = string | number | null | Reply[];

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

/** As little of a Redis client as the bench needs. Whatever is asked in one turn leaves in one write. */
export class RespClient {
  readonly #waiting: Waiting[] = [];
  #answered = 0;
  #unsent = "";
  #unread = "";
  #failure: Error | undefined;

  private constructor(readonly socket: Socket) {
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => this.#read(String(chunk)));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("Redis closed the connection.")));
  }

  static async connect(path: string): Promise<RespClient> {
    const socket = createConnection(path);
    await once(socket, "connect");
    return new RespClient(socket);
  }

  /** Only for words of ASCII: their lengths are those of their bytes. */
  ask(...words: readonly string[]): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#unsent === "") process.nextTick(() => this.#send());
    this.#unsent += `*${words.length}\r\n`;
    for (const word of words) this.#unsent += `$${word.length}\r\n${word}\r\n`;
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async close(): Promise<void> {
    if (this.socket.closed) return;
    this.socket.destroy();
    await once(this.socket, "close");
  }

  #send(): void {
    this.socket.write(this.#unsent, "latin1");
    this.#unsent = "";
  }

  #read(chunk: string): void {
    this.#unread += chunk;
    let at = 0;
    for (let found = parse(this.#unread, at); found !== undefined; found = parse(this.#unread, at)) {
      at = found.end;
      const asked = this.#waiting[this.#answered++];
      if (found.reply instanceof Error) asked?.reject(found.reply);
      else asked?.resolve(found.reply);
    }
    this.#unread = this.#unread.slice(at);
    this.#waiting.splice(0, this.#answered);
    this.#answered = 0;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

interface Parsed {
  readonly reply: Reply | Error;
  readonly end: number;
}

/** The reply that begins at `from`, if all of it is there (https://redis.io/docs/latest/develop/reference/protocol-spec). */
function parse(text: string, from: number): Parsed | undefined {
  const lineEnd = text.indexOf("\r\n", from);
  if (lineEnd < 0) return undefined;
  const line = text.slice(from + 1, lineEnd);
  const end = lineEnd + 2;
  switch (text[from]) {
    case ":":
      return { reply: Number(line), end };
    case "+":
      return { reply: line, end };
    case "-":
      return { reply: new Error(`Redis: ${line}`), end };
    case "$":
      return parseBulk(text, end, Number(line));
    case "*":
      return parseArray(text, end, Number(line));
    default:
      throw new Error(`Redis said what is no reply: ${text.slice(from, lineEnd)}`);
  }
}

function parseBulk(text: string, from: number, length: number): Parsed | undefined {
  if (length < 0) return { reply: null, end: from };
  const end = from + length + 2;
  return text.length < end ? undefined : { reply: text.slice(from, from + length), end };
}

function parseArray(text: string, from: number, length: number): Parsed | undefined {
  const items: Reply[] = [];
  let end = from;
  while (items.length < length) {
    const item = parse(text, end);
    if (item === undefined) return undefined;
    if (item.reply instanceof Error) return item;
    items.push(item.reply);
    end = item.end;
  }
  return { reply: items, end };
}
