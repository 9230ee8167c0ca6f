import type { Socket } from "node:net";
import type { AnyService } from "../host/service.js";
import { KINDS, type Kind, lineOf } from "../observe/index.js";

/** The feed of a running program at its admin socket: one line of JSON per fact, until one side closes. */

export type Observe = AnyService["observe"];

/** Sends facts to the connected observer. When they are not read, they wait in the observation's buffer, and then are dropped. */
export function streamFacts(socket: Socket, kinds: readonly Kind[], observe: Observe): void {
  const observation = observe(kinds, (fact) => {
    if (socket.write(`${lineOf(fact)}\n`)) return;
    return new Promise<void>((resolve) => {
      const goOn = () => {
        socket.off("drain", goOn).off("close", goOn);
        resolve();
      };
      socket.on("drain", goOn).on("close", goOn);
    });
  });
  socket.on("close", () => observation.stop());
  socket.on("end", () => socket.end());
}

/** The kinds that are meant by these names; all, if there are none. Null if one is not a kind. */
export function kindsIn(names: readonly string[]): readonly Kind[] | null {
  if (names.length === 0) return KINDS;
  const kinds = KINDS.filter((kind) => names.includes(kind));
  return kinds.length === new Set(names).size ? kinds : null;
}
