import type { TestContext } from "node:test";
import { StreamService, type StreamsOptions, type TenantStreams } from "headwater/streams";
import { listen } from "#src/server/listen.js";
import { StreamsHttp } from "#src/streams/http/index.js";

/** A service that can be reached, with a token that may do everything. */
export interface Served {
  readonly service: StreamService;
  readonly streams: TenantStreams;
  readonly url: string;
  readonly token: string;
  ask(method: string, path: string, body?: string, token?: string): Promise<Response>;
}

export async function served(t: TestContext, options: StreamsOptions = {}): Promise<Served> {
  const service = await StreamService.open(options);
  const listener = await listen({});
  const http = new StreamsHttp(service, listener);
  t.after(async () => {
    http.close();
    listener.close();
    listener.http.closeAllConnections();
    await service.close();
  });
  const token = await service.addToken("default", ["operator", "admin"]);
  const { url } = listener;
  return {
    ...{ service, streams: await service.tenant("default"), url, token },
    ask: (method, path, body, own = token) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${own}` },
        ...(body === undefined ? {} : { body }),
      }),
  };
}
