import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** A request as a program gets it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** The request knows which one it is. */
  readonly nth: number;
}

export type RequestListener = (req: IncomingMessage, res: ServerResponse) => unknown;

/** Node's own request and response, without a network between them and us. */
export class Exchange {
  /** What was written so far, as it would go over the network. */
  written = "";
  isOver = false;
  /** Its connection was given up. What was on its way then may have arrived or not. */
  isReset = false;

  constructor(
    readonly asked: Asked,
    listener: RequestListener,
  ) {
    const socket = new Duplex({
      read: () => {},
      write: (chunk: Buffer, _encoding, done) => {
        this.written += chunk.toString("latin1");
        done();
      },
    }) as unknown as Socket;
    const req = new IncomingMessage(socket);
    req.method = asked.method;
    req.url = asked.path;
    req.httpVersion = "1.1";
    req.httpVersionMajor = 1;
    req.httpVersionMinor = 1;
    req.headers = { host: "localhost", nth: String(asked.nth) };
    if (asked.body !== "") {
      req.headers["content-type"] = "application/json";
      req.headers["content-length"] = String(Buffer.byteLength(asked.body));
    }
    const res = new ServerResponse(req);
    res.sendDate = false;
    res.assignSocket(socket);
    socket.on("close", () => {
      this.isReset = !this.isOver;
    });
    res.on("finish", () => {
      this.isOver = true;
      res.detachSocket(socket);
    });
    if (asked.body !== "") req.push(asked.body);
    req.push(null);
    req.complete = true;
    listener(req, res);
  }
}
