import type { Socket } from "node:net";
import type { LogPort } from "../journal/stream/log-port.js";
import { connectLink, type LinkAddress } from "./links.js";

/** Under this name, a member's address and key are kept. */
export function memberPart(member: string): string {
  return `member.${member}`;
}

export interface Dialing {
  readonly port: LogPort;
  readonly member: string;
  readonly isOver: () => boolean;
  /** The connection was refused: no process listens there any more. */
  readonly refused?: () => void;
}

export const REDIAL_MS = 50;

/** Connects to a member, again and again until that succeeds. Null if it is over before. */
export async function dial({ port, member, isOver, refused }: Dialing): Promise<Socket | null> {
  while (!isOver()) {
    try {
      const kept = await port.getPart(memberPart(member));
      if (kept !== null) {
        const socket = await connectLink(JSON.parse(kept.bytes.toString()) as LinkAddress);
        if (!isOver()) return socket;
        socket.destroy();
      }
    } catch (error) {
      if (isCode(error, "ECONNREFUSED") && !isOver()) refused?.();
    }
    await new Promise((resolve) => setTimeout(resolve, REDIAL_MS).unref());
  }
  return null;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
