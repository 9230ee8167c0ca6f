import { createServer } from "node:net";

/** Below the ports that the system gives to connections and to servers that ask for any. */
const [FIRST, LAST] = [20_000, 32_000];

/** A port that is free, for what must come back at the same one: no connection or other server of a test gets it in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
