import { Packer } from "./pack.js";

/**
 * What client and server say to each other over a WebSocket. A frame is one or more messages in MessagePack, one
 * behind the other; a message is a list. The first item is the number of a request, or 0 for everything else:
 *
 *     client                                              server
 *     [0, "hello", version, secret, token, seen, asked]   [0, "welcome", terms]
 *     [request, function, arguments]                      [request, true, value] or [request, false, error]
 *     [0, "done", below]
 *     [0, "ack", sequence]                                [0, "message", sequence, node, ticket, index, value]
 *     [0, "ping"]                                         [0, "pong"]
 *     [0, "watch", id, function, arguments, tag]          [0, "value", id, tag, true, value] or [0, "value", id, tag, false, error]
 *     [0, "got", id]                                      [0, "value", id, tag]
 *     [0, "unwatch", id]
 *
 * `hello` comes first. `secret` names the session and is known to its client only; `seen` is the sequence number of
 * the last message that the client has got, and `asked` the highest number of a request that it has sent so far.
 * `arguments` are packed by themselves, so that one request that cannot be read costs that request and not the
 * connection. `done` says that no request below that number will be sent again, so that the server need not remember its
 * answer. Values travel as forms (`form.ts`).
 *
 * `watch` asks for the result of a read-only function, now and whenever it changes. Each value has a tag, a hash of it. The server
 * sends the next value only when the client has got the last one, and a value without its content if the client has it already:
 * `tag` of `watch` is that of the value which the client has from an earlier connection, or empty.
 *
 * A message has two names. Its sequence number is the session's, and is what is acknowledged. Node, ticket and index
 * are the service's own (`Position`) and outlive the server: a message that is handed over again after a crash has
 * the same, and the client, which has it already, drops it.
 */

export const PROTOCOL_VERSION = 1;

/** What a server tells a client when it lets it in. */
export interface Terms {
  /** What events of this session see as their caller. */
  readonly session: string;
  /** Was the session known? If not, messages may have been missed since the last connection. */
  readonly resumed: boolean;
  /** The service whose positions messages carry. */
  readonly history: string;
  /** Although the session was not known: has the service kept all messages to it that were not acknowledged? */
  readonly complete: boolean;
  /** How many requests may be unanswered at a time. */
  readonly inFlight: number;
  /** How large a frame may be. */
  readonly bytes: number;
  /** How often to make sure that the other side is there. */
  readonly pingMs: number;
  /** For how long a request may be sent again: so long its answer is kept. */
  readonly answersMs: number;
}

const packer = new Packer();

export function pack(message: unknown): Uint8Array {
  packer.truncate(0);
  packer.value(message);
  return packer.take();
}
