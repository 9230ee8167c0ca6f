import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dashboard } from "../dashboard/index.js";
import { HeadwaterError } from "../errors.js";
import type { PortListener } from "../server/listen.js";
import { refuse, refuseRaw } from "../server/respond.js";
import type { StaticFiles } from "../server/static.js";

/** The environment variable with the token of the dashboard. */
export const DASHBOARD_TOKEN = "HEADWATER_DASHBOARD_TOKEN";

/** What one port has besides the program's API: the dashboard below `/headwater/`, and files. */
export interface Beside {
  readonly dashboard: Dashboard | null;
  readonly files: StaticFiles | null;
}

/** The same port for a server that is to share it: it gets what is meant neither for the dashboard nor for a file. */
export function shared(listener: PortListener, { dashboard, files }: Beside): PortListener {
  if (dashboard === null && files === null) return listener;
  return {
    ...listener,
    open: (handle, upgrade) => {
      const others = async (request: IncomingMessage, response: ServerResponse) => {
        if (files === null || !(await files.send(request, response))) handle(request, response);
      };
      listener.open((request, response) => {
        if (dashboard?.handle(request, response) === true) return;
        void others(request, response).catch((error: unknown) => refuse(request, response, error, 0));
      }, upgrade);
    },
  };
}

/** Serves nothing else at a port that was opened for the dashboard or for files only. */
export function openAlone(listener: PortListener): void {
  const nothing = () => new HeadwaterError("HW-4004", "there is nothing at this path.");
  listener.open(
    (request, response) => refuse(request, response, nothing(), 1024 * 1024),
    (_, stream) => refuseRaw(stream, nothing()),
  );
}
