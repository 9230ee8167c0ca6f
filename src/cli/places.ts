import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dashboard } from "../dashboard/index.js";
import { HeadwaterError } from "../errors.js";
import type { PortListener } from "../server/listen.js";
import { refuse, refuseRaw, respond } from "../server/respond.js";
import type { StaticFiles } from "../server/static.js";
import type { MetricsPlace } from "./telemetry.js";

/** The environment variable with the token of the dashboard. */
export const DASHBOARD_TOKEN = "HEADWATER_DASHBOARD_TOKEN";

/** What one port has besides the program's API: the dashboard below `/headwater/`, and files. */
export interface Beside {
  readonly dashboard: Dashboard | null;
  readonly files: StaticFiles | null;
  readonly metrics: MetricsPlace | null;
}

/** The same port for a server that is to share it: it gets what is meant neither for the dashboard nor for a file. */
export function shared(listener: PortListener, { dashboard, files, metrics }: Beside): PortListener {
  if (dashboard === null && files === null && metrics === null) return listener;
  return {
    ...listener,
    open: (handle, upgrade) => {
      const others = async (request: IncomingMessage, response: ServerResponse) => {
        if (files === null || !(await files.send(request, response))) handle(request, response);
      };
      listener.open((request, response) => {
        if (dashboard?.handle(request, response) === true) return;
        if (metrics?.handle(request, response) === true) return;
        void others(request, response).catch((error: unknown) => refuse(request, response, error, 0));
      }, upgrade);
    },
  };
}

/** Serves nothing else at a port that was opened for the dashboard, files or metrics only, apart from whether the program can commit. */
export function openAlone(listener: PortListener, health: () => Promise<HeadwaterError | null>): void {
  const nothing = () => new HeadwaterError("HW-4004", "there is nothing at this path.");
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const failure = request.url === "/healthz" ? await health() : nothing();
    if (failure !== null) throw failure;
    respond(response, 200, '{"ok":true}');
  };
  listener.open(
    (request, response) =>
      void answer(request, response).catch((error: unknown) => refuse(request, response, error, 1024 * 1024)),
    (_, stream) => refuseRaw(stream, nothing()),
  );
}
