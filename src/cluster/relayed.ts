/** What a gateway and the head say to each other over their link. */

import type { EventChange } from "../host/cluster-side.js";
import type { OutgoingMessage, TakenMessages } from "../model/between-logs.js";
import type { Step } from "../model/path.js";

/** What is asked of a context, as it travels. */
export interface RelayedCall {
  readonly node: string;
  readonly path: readonly Step[];
  readonly method: string;
  /** Encoded, so that the same call can be made again. */
  readonly args: Uint8Array;
}

export type RelayedPayer = readonly [caller: string, part: string];

/** `n` numbers what is waited for. A request that is sent again, to the next head, has the number that it had. */
export type GatewayMessage =
  /** A request without an id: its number among those of its gateway stands for one. */
  | {
      readonly kind: "ask";
      readonly n: number;
      readonly call: RelayedCall;
      readonly client: string | null;
      /** Requests up to this number may have been sent to earlier heads. */
      readonly sentUpTo: number;
      /** The gateway has the answers to all requests below this number. */
      readonly below: number;
    }
  /** A request with an id. */
  | {
      readonly kind: "once";
      readonly n: number;
      readonly call: RelayedCall;
      readonly client: string | null;
      readonly request: string;
      readonly payer: RelayedPayer;
    }
  /** A request that a client has numbered. */
  | {
      readonly kind: "series";
      readonly n: number;
      readonly call: RelayedCall;
      readonly client: string;
      readonly number: number;
      readonly sentUpTo: number | null;
      readonly payer: RelayedPayer;
    }
  | { readonly kind: "answered"; readonly client: string; readonly below: number }
  | { readonly kind: "leave"; readonly client: string }
  | { readonly kind: "listen"; readonly client: string }
  | {
      readonly kind: "received";
      readonly client: string;
      readonly node: string;
      readonly ticket: number;
      readonly index: number;
    }
  | { readonly kind: "unlisten"; readonly client: string }
  | { readonly kind: "forget"; readonly client: string }
  /** A read whose result is watched. */
  | {
      readonly kind: "read";
      readonly id: number;
      readonly call: RelayedCall;
      readonly client: string | null;
    }
  | { readonly kind: "unread"; readonly id: number }
  /** This gateway wants to hear of changes, from now on. */
  | { readonly kind: "watch" }
  /** The gateway has dealt with the changes up to this number. */
  | { readonly kind: "seen"; readonly change: number }
  /** Asked again and again: what the gateway has heard is up to date if this was answered a short time ago. */
  | { readonly kind: "ping"; readonly sentMs: number }
  | {
      readonly kind: "announce";
      readonly id: number;
      readonly changes: readonly EventChange[];
      readonly isStrict: boolean;
    }
  /** From the head of another log, which runs in the gateway's process. */
  | OutgoingMessage;

export type RelayedRequest = Extract<GatewayMessage, { readonly n: number }>;

export type HeadMessage =
  | { readonly kind: "result"; readonly n: number; readonly ok: boolean; readonly value: unknown }
  | {
      readonly kind: "told";
      readonly client: string;
      readonly message: unknown;
      readonly node: string;
      readonly ticket: number;
      readonly index: number;
    }
  /** The result of a read that is watched, and that it may have changed. */
  | { readonly kind: "read"; readonly id: number; readonly ok: boolean; readonly value: unknown }
  | { readonly kind: "stale"; readonly id: number }
  /** Events were carried out; null if any may have been. */
  | { readonly kind: "changed"; readonly change: number; readonly changes: readonly EventChange[] | null }
  | { readonly kind: "pong"; readonly sentMs: number }
  | { readonly kind: "announced"; readonly id: number }
  | TakenMessages
  /** The client is connected elsewhere at present: listen again later. */
  | { readonly kind: "unheard"; readonly client: string };

/** How a gateway reaches the head of one epoch. */
export interface HeadLink {
  send(message: GatewayMessage): void;
  close(): void;
}
