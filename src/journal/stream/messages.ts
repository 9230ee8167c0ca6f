/**
 * The messages of a log: each is a frame (`log/frame.ts`) that names its position, its epoch and its number in that epoch. A group
 * that is too large for one message is several: all but the last are parts.
 *
 * Which messages count: a record of a later epoch begins that epoch; a message of the present epoch counts if its number is the next
 * one. All others are void. Positions alone are no fence when several messages are on their way: if a new head's record takes the
 * position for which the old head's first message was meant, the old head's second one can still land behind that record.
 */

import { FrameBuffer, type FrameHead, type FrameKind, readHead, writesOf } from "../log/frame.js";
import type { LogMessage } from "./log-port.js";

/** Of the writes in one message. Servers take no messages above `max_payload`, which is 1 MB unless it is set. */
export const MESSAGE_BYTES_MAX = 512 * 1024;

export interface ReadMessage {
  readonly head: FrameHead;
  readonly content: Buffer;
}

/** How far a reader has come: the present epoch, and the number of its last message that counts. */
export interface Progress {
  readonly epoch: number;
  readonly number: number;
}

/** What a message says; null if it is none of ours, damaged, or made for another position. */
export function readMessage({ position, bytes }: LogMessage): ReadMessage | null {
  const head = readHead(bytes);
  if (head === null || head.sequence !== position) return null;
  const content = writesOf(bytes, head);
  return content === null ? null : { head, content };
}

/** How far a reader is with this message; null if the message is void. */
export function progressWith({ epoch, number }: Progress, { head }: ReadMessage): Progress | null {
  if (head.kind === "epoch") return head.epoch > epoch ? { epoch: head.epoch, number: 0 } : null;
  return head.epoch === epoch && head.segment === number + 1 ? { epoch, number: number + 1 } : null;
}

/** What a frame is divided into. They stay valid when the frame is used again. */
export function contentsOf(frame: FrameBuffer): { readonly kind: FrameKind; readonly content: Buffer }[] {
  const content = Buffer.from(frame.content);
  const count = Math.max(1, Math.ceil(content.length / MESSAGE_BYTES_MAX));
  return Array.from({ length: count }, (_, i) => ({
    kind: i < count - 1 ? "part" : "group",
    content: content.subarray(i * MESSAGE_BYTES_MAX, (i + 1) * MESSAGE_BYTES_MAX),
  }));
}

/** The bytes of a message of an epoch, for one position. */
export function sealed(
  kind: FrameKind,
  content: Uint8Array,
  { epoch, number }: Progress,
  position: number,
): Buffer {
  const frame = new FrameBuffer(content.byteLength);
  frame.addRaw(content);
  return frame.seal({ epoch, segment: number, sequence: position }, kind);
}

/** Who writes the log from then on. */
export interface EpochOwner {
  /** No other attempt to begin an epoch has it. */
  readonly attempt: string;
  readonly member: string;
}

export function epochMessage(owner: EpochOwner, epoch: number, position: number): Buffer {
  return sealed("epoch", Buffer.from(JSON.stringify(owner)), { epoch, number: 0 }, position);
}

/** Null if the message begins no epoch. */
export function ownerOf({ head, content }: ReadMessage): EpochOwner | null {
  if (head.kind !== "epoch") return null;
  const { attempt, member } = JSON.parse(content.toString()) as Partial<EpochOwner>;
  return { attempt: String(attempt), member: String(member) };
}
