import { HeadwaterError } from "../../errors.js";
import type { Carrier } from "../../net/index.js";
import type { Slot } from "../context/index.js";
import { claimRejections, type RunningEvent } from "../event/index.js";
import type { Roots } from "../fleet/index.js";
import { becomeHost } from "../is-host.js";
import { type Aside, type HostTask, NOTHING_RUNS } from "../link/host-link.js";
import { ContextLoads } from "../load/context-loads.js";
import { Gauge } from "../load/gauge.js";
import { memoryPorts } from "../ports/index.js";
import { cannotLoad, loadRoots, reasonOf } from "../program-module.js";
import { HostSite } from "../site/index.js";
import { at, HostLine, type ToHead, type ToHost } from "../wire/index.js";

const LOAD_EVERY_MS = 1000;

/**
 * A host, whatever it is: loads the program, and runs what the head sends. In `noted` it says what it is at, for those
 * who look from outside while its event loop is blocked. Null if there is no program: the head has been told why.
 */
export async function startHost(
  task: HostTask,
  port: Carrier<Aside>,
  noted: Float64Array,
): Promise<HostLine | null> {
  becomeHost();
  const classes = await rootsFor(task, port);
  if (classes === null) return null;
  const nodes = Object.keys(task.outline?.nodes ?? classes); // in the order in which the head knows them
  const note = (node: string, ticket: number) => {
    noted[1] = ticket;
    noted[0] = nodes.indexOf(node);
  };
  const gauge = new Gauge();
  /** Where events have started since the last message was taken, and how many: they are in one context. */
  let started: Slot | null = null;
  let count = 0;
  const begins = ({ ticket, time, payload: { slot } }: RunningEvent) => {
    note(slot.node, ticket);
    gauge.started({ node: slot.node, ticket, time });
    started = slot;
    count += 1;
  };
  const take = (message: ToHost) => {
    started = null;
    count = 0;
    const isTimed = loads.begins();
    if (message.kind === "call" || message.kind === "enter") note(message.node, message.ticket);
    if (message.kind === "call") {
      started = at(message.node, message.asked.path, site.roots);
      count = 1;
    }
    site.receive(message);
    noted[0] = NOTHING_RUNS;
    if (isTimed && started !== null) loads.ends(started, count);
  };
  const { messageBytes } = task.limits;
  const line: HostLine = new HostLine({
    roots: () => site.roots,
    messageBytes,
    post: (bytes) => port.post(bytes),
    take,
  });
  const send = (message: ToHead) => {
    if (message.kind === "finish") gauge.finished(message);
    return line.send(message);
  };
  const site: HostSite = new HostSite(
    classes,
    { soon: memoryPorts.soon, atRest: memoryPorts.atRest, broken: memoryPorts.broken, begins, send },
    { limits: task.limits, isDurable: task.isDurable },
  );
  claimRejections({
    owns: () => true,
    roots: Object.values(classes),
    report: ({ code, message }) => port.tell({ kind: "warns", code, message }),
    isHost: true,
  });
  const loads = new ContextLoads(site.roots);
  const report = () => port.tell({ kind: "load", load: gauge.read(), samples: loads.read() });
  setInterval(report, LOAD_EVERY_MS).unref();
  port.tell({ kind: "ready" });
  return line;
}

/** The program; the head is told why if there is none, since all else that it would see is that a host has ended. */
async function rootsFor({ module, outline }: HostTask, port: Carrier<Aside>): Promise<Roots | null> {
  try {
    return await loadRoots(module, outline);
  } catch (error) {
    const { code, message } = error instanceof HeadwaterError ? error : cannotLoad(module, reasonOf(error));
    port.tell({ kind: "failed", code, message });
    return null;
  }
}
