import { Packr } from "msgpackr/pack";

/**
 * What client and server say to each other over a WebSocket. A frame is one or more messages in MessagePack, one
 * behind the other; a message is a list. The first item is the number of a request, or 0 for everything else:
 *
 *     client                                        server
 *     [0, "hello", version, secret, token, seen]    [0, "welcome", terms]
 *     [request, function, arguments]                [request, true, value] or [request, false, error]
 *     [0, "ack", sequence]                          [0, "message", sequence, value]
 *     [0, "ping"]                                   [0, "pong"]
 *
 * `hello` comes first. `secret` names the session and is known to its client only; `seen` is the sequence number of
 * the last message that the client has got. `arguments` are packed by themselves, so that one request that cannot
 * be read costs that request and not the connection. Values travel as forms (`form.ts`).
 */

export const PROTOCOL_VERSION = 1;

/** What a server tells a client when it lets it in. */
export interface Terms {
  /** What events of this session see as their caller. */
  readonly session: string;
  /** Was the session known? If not, messages may have been missed since the last connection. */
  readonly resumed: boolean;
  /** How many requests may be unanswered at a time. */
  readonly inFlight: number;
  /** How large a frame may be. */
  readonly bytes: number;
  /** How often to make sure that the other side is there. */
  readonly pingMs: number;
}

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true });

export function pack(message: unknown): Uint8Array {
  return packr.pack(message);
}

/** One frame out of several messages. */
export function joined(messages: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = messages;
  if (messages.length === 1 && first !== undefined) return first;
  const frame = new Uint8Array(length);
  let at = 0;
  for (const message of messages) {
    frame.set(message, at);
    at += message.length;
  }
  return frame;
}
