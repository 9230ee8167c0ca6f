/** What is said between logical nodes whose logs are different ones, while their messages go from one log to the other. */

/** Where a message stands among those of its sender: the ticket of its event, and its position among what that asked for. */
export type MessagePosition = readonly [ticket: number, index: number];

/** A sender, a receiver, and the history of the sender's log: positions can be compared only within it. */
interface Pair {
  readonly from: string;
  readonly to: string;
  readonly history: string;
}

/** From the head of the sender's log. */
export type OutgoingMessage =
  /** Answered with how far the receiver has taken the messages of the sender. */
  | (Pair & { readonly kind: "offer" })
  | (Pair & {
      readonly kind: "message";
      readonly position: MessagePosition;
      /** The message that was sent before it: it is taken only if that was taken, so none is left out. */
      readonly after: MessagePosition;
      /** The event that it becomes, encoded. */
      readonly event: Uint8Array;
    });

/** From the head of the receiver's log. */
export interface TakenMessages extends Pair {
  readonly kind: "taken";
  /** Messages are to be sent from behind this one on; null if they go on as they do. */
  readonly goOnAfter: MessagePosition | null;
  /** Up to here they are in the receiver's log: the sender need not keep them any longer. */
  readonly safe: MessagePosition;
}

/** The receiver's end of a connection over which such messages come. */
export interface MessagesIn {
  take(message: OutgoingMessage): void;
  leave(): void;
}

/** The sender's end. Messages get lost while there is no head at the other end. */
export interface MessagesOut {
  send(message: OutgoingMessage): void;
  close(): void;
}

/** Who sends hears of new heads, and of what became of its messages. */
export interface MessageSender {
  /** There is a head, perhaps another one, for the log of these logical nodes. */
  connected(nodes: ReadonlySet<string>): void;
  taken(messages: TakenMessages): void;
}

/** Which logical nodes of a program are in one log, and how those in other logs are reached. */
export interface OwnLog {
  readonly nodes: ReadonlySet<string>;
  open(sender: MessageSender): MessagesOut;
}
