import { Socket } from "node:net";

/** Names, in the environment of a process that a supervisor has started, the descriptor that leads to the supervisor. */
export const SUPERVISED = "HEADWATER_SUPERVISED";

const descriptor = process.env[SUPERVISED];
delete process.env[SUPERVISED]; // it is not for processes that this one starts

/** Is this process started again when it ends? Then it may end itself rather than be stuck. */
export const isSupervised = descriptor !== undefined;

/** Tells the supervisor that the program runs. If the supervisor is gone, this process ends as it does at Ctrl-C. */
export function tellSupervisor(): void {
  if (descriptor === undefined) return;
  const socket = new Socket({ fd: Number(descriptor) });
  socket.on("error", () => {});
  socket.on("close", () => process.kill(process.pid, "SIGTERM"));
  socket.resume();
  socket.write("up");
  socket.unref();
}
