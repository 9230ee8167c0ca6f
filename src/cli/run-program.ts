import { existsSync } from "node:fs";
import { relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Dashboard } from "../dashboard/index.js";
import { run as runService } from "../doors.js";
import type { ElasticHosts } from "../elastic/elastic-hosts.js";
import { HeadwaterError } from "../errors.js";
import { HOSTS_MAX, isSupervised, tellSupervisor } from "../host/ports/index.js";
import {
  type AnyService,
  HOSTS,
  inspectorOf,
  parkedOf,
  type RunOptions,
  hostsOf as serviceHosts,
} from "../host/service.js";
import { isNatsAddress } from "../journal/stream/nats-address.js";
import { DOOR } from "../model/door.js";
import { listen, type PortListener } from "../server/listen.js";
import { type Server, serveOn } from "../server/serve.js";
import { StaticFiles } from "../server/static.js";
import { doorOf, openDoor } from "./admin.js";
import { type Arguments, absent, misused } from "./arguments.js";
import { type HostRange, hostsIn, type LoadFile, loadFile, policyIn } from "./hosts-option.js";
import { aborted, onInterrupt } from "./interrupt.js";
import { choiceOf, journalOf } from "./journal-options.js";
import { DASHBOARD_TOKEN, openAlone, shared } from "./places.js";
import { apiOf, type LoadedProgram, loadProgram, type ProgramIo } from "./program.js";
import { findProgram } from "./program-file.js";
import { asAdded, isAdded, provisionOf } from "./provision-options.js";
import { messageOf } from "./report.js";
import { run } from "./run.js";
import { RESTART } from "./supervise.js";
import { checkMetrics, MetricsPlace, openLog } from "./telemetry.js";
import { logSettings } from "./telemetry-options.js";
import type { Terminal } from "./terminal.js";
import { jsonVoice, plainVoice, type Voice } from "./voice.js";

/** How long a program's `main` may take to return after Ctrl-C before the service is stopped under it. */
const GRACE_MS = 2000;
const SILENCE_MS_MAX = 1000;
const PORT_MAX = 65_535;
/** Set for a process that is to end when its standard input does: whatever ends its parent, none is left behind. */
export const ENDS_WITH_STDIN = "HEADWATER_ENDS_WITH_STDIN";
const COMMIT_ORDERS = ["observer", "total"] as const;

/** Runs a program of contexts until it has ended, or until Ctrl-C. */
export async function runProgram(given: Arguments, terminal: Terminal): Promise<number> {
  const args = asAdded(given);
  const commitOrder = choiceOf(args, "commit-order", COMMIT_ORDERS);
  const kept = journalOf(args);
  const range = rangeOf(args);
  const place = placeOf(args);
  const logged = logSettings(run, args);
  const program = await loadProgram(findProgram(args.operands[0] ?? "", process.cwd()));
  const voice = args.flags.has("json") ? jsonVoice(terminal) : plainVoice(terminal);
  const interrupt = onInterrupt(() => voice.note("Stopping."));
  if (process.env[ENDS_WITH_STDIN] !== undefined) endWithStdin();
  const failure = new AbortController();
  const restart = new AbortController();
  const hosts = await hostsOf(args, range, voice);
  const areProcesses = args.flags.has("processes");
  const recording = await recordingOf(args, voice);
  // Before the journal: a process that cannot have the port must not take a journal from the process that has it.
  const listener = place === null ? null : await listenFor(program, place, voice);
  const files = place?.files === undefined ? null : await StaticFiles.of(place.files);
  try {
    const service = await start(program, {
      ...restartable(kept, () => restart.abort()),
      ...provisionOf(run, args, voice),
      commitOrder,
      hosts,
      hostsAs: areProcesses ? "processes" : "threads",
      onWarning: ({ message }) => voice.note(message),
      module: pathToFileURL(program.file).href,
      ...(recording === null ? {} : { onLoad: recording.take }),
      onError: voice.failure,
      onFailure: (error) => failure.abort(error),
    });
    voice.running(program, range, kept.journal);
    // In a cluster, the door would be that of one member, and the journal's name that of all.
    const closeDoor = await openAdmin(
      args,
      service,
      kept.member === undefined ? kept.journal : undefined,
      voice,
    );
    const load = { factor: 1 };
    const dashboard =
      listener !== null && args.flags.has("dashboard")
        ? await dashboardOf(program, service, kept.journal, load, listener)
        : null;
    const metrics =
      listener !== null && args.flags.has("metrics") ? new MetricsPlace(service, listener.isLocal) : null;
    const log = await openLog(run, logged, service);
    const server =
      listener === null
        ? null
        : await served(program, service, shared(listener, { dashboard, files, metrics }), place, voice);
    if (dashboard !== null && listener !== null && process.env[DASHBOARD_TOKEN] === undefined)
      voice.dashboard(`${listener.url}${dashboard.entry()}`);
    tellSupervisor();
    const io: ProgramIo = {
      print: voice.print,
      signal: interrupt.signal,
      forever: args.flags.has("forever"),
      get load() {
        return load.factor;
      },
    };
    try {
      const work = untilDone(program, service, io, voice).then(() => listener && aborted(io.signal));
      work.catch(() => {}); // it may fail, too, when the journal has
      await Promise.race([work, aborted(failure.signal), aborted(restart.signal)]);
      failure.signal.throwIfAborted();
    } finally {
      closeDoor?.();
      await dashboard?.close();
      metrics?.close();
      await server?.close({ graceMs: GRACE_MS });
      await service.stop();
      await recording?.close();
      await log.close();
    }
    voice.note("Stopped.");
    return restart.signal.aborted ? RESTART : 0;
  } finally {
    listener?.close();
    interrupt.release();
  }
}

/** A process that something starts again may be restarted by `headwater cluster roll`. */
function restartable<T extends { readonly member?: object }>(kept: T, restart: () => void): T {
  if (kept.member === undefined || !isSupervised) return kept;
  return { ...kept, member: { ...kept.member, restart } };
}

function endWithStdin(): void {
  process.stdin.on("end", () => process.kill(process.pid, "SIGTERM")).resume();
}

function start({ roots }: LoadedProgram, options: RunOptions): Promise<AnyService> {
  return typeof roots === "function" ? runService(roots, options) : runService(roots, options);
}

interface Place {
  readonly port: number;
  readonly host: string;
  readonly origins: readonly string[];
  /** The folder whose files are served. */
  readonly files: string | undefined;
  /** Is there something to serve, if the program exports no `api`? */
  readonly isEnough: boolean;
}

async function listenFor(program: LoadedProgram, place: Place, voice: Voice): Promise<PortListener> {
  if (!place.isEnough) apiOf(program);
  return await listen({ ...place, log: voice.note });
}

async function served(
  program: LoadedProgram,
  service: AnyService,
  listener: PortListener,
  place: Place | null,
  voice: Voice,
): Promise<Server | null> {
  try {
    if (program.api === undefined && place?.isEnough === true) {
      openAlone(listener, () => service[DOOR].health());
      voice.listening(listener.url);
      return null;
    }
    const { origins = [] } = place ?? {};
    const server = serveOn(listener, service, apiOf(program), { origins, log: voice.note });
    voice.listening(server.url);
    return server;
  } catch (error) {
    await service.stop();
    throw error;
  }
}

/** The dashboard of the program. Its token may come from a process that starts this one again and again. */
async function dashboardOf(
  program: LoadedProgram,
  service: AnyService,
  journal: string | undefined,
  load: { factor: number },
  listener: PortListener,
): Promise<Dashboard> {
  const { clusterAt, Dashboard: Class, EventStream } = await import("../dashboard/index.js");
  const hosts = service[HOSTS];
  return new Class(service, {
    program: relative(process.cwd(), program.file),
    journal: journal ?? null,
    startedAtMs: Date.now(),
    kill: hosts === null || journal === undefined ? null : (host) => hosts.kill(host),
    load,
    token: process.env[DASHBOARD_TOKEN],
    isLocal: listener.isLocal,
    streams: new EventStream(service),
    ...(journal !== undefined && isNatsAddress(journal) ? { cluster: clusterAt(journal) } : {}),
  });
}

/** Resolves when the program has done its work, or when Ctrl-C has been pressed and the grace is over. */
async function untilDone(
  program: LoadedProgram,
  service: AnyService,
  io: ProgramIo,
  voice: Voice,
): Promise<void> {
  const grace = new AbortController();
  const work = workOf(program, service, io, voice).catch((error: unknown) => {
    if (!(io.signal.aborted && isConsequenceOfStopping(error))) throw error;
  });
  const cutOff = aborted(io.signal).then(() => sleep(GRACE_MS, undefined, { signal: grace.signal }));
  cutOff.catch(() => {}); // the grace was not needed
  await Promise.race([work, cutOff]).finally(() => grace.abort());
}

async function workOf(
  program: LoadedProgram,
  service: AnyService,
  io: ProgramIo,
  voice: Voice,
): Promise<void> {
  if (program.main === null || isAdded()) {
    await aborted(io.signal);
    return;
  }
  await program.main(service, io);
  if (io.signal.aborted) return;
  const late = setTimeout(() => voice.note("main has returned; events are still in flight."), SILENCE_MS_MAX);
  await Promise.race([service.idle(), aborted(io.signal)]).finally(() => clearTimeout(late));
}

/** Calls that were cut off by the stop, and waits that were given the signal, reject like this. */
function isConsequenceOfStopping(error: unknown): boolean {
  if (error instanceof HeadwaterError) return error.code === "HW-1401";
  return error instanceof Error && error.name === "AbortError";
}

/** Where to serve, if at all. */
function placeOf(args: Arguments): Place | null {
  const { values, flags } = args;
  const files = values.get("static");
  if (files !== undefined && !existsSync(files)) throw absent(`There is no folder ${files}.`, run);
  const isEnough = flags.has("dashboard") || flags.has("metrics") || files !== undefined;
  const written = values.get("port") ?? (isEnough ? "0" : undefined);
  if (written === undefined) {
    for (const option of ["host", "origins"]) {
      if (values.has(option)) throw misused(run, `--${option} is about serving; it needs --port as well.`);
    }
    return null;
  }
  const port = /^\d{1,5}$/.test(written) ? Number(written) : Number.NaN;
  if (!(port <= PORT_MAX)) throw misused(run, `--port is a number from 0 to ${PORT_MAX}, not "${written}".`);
  const origins = values.get("origins")?.split(",") ?? [];
  const host = values.get("host") ?? "127.0.0.1";
  checkMetrics(run, args, host);
  return { port, host, origins, files, isEnough };
}

/** Lets `headwater hosts` and `headwater events` in, where it was told to, or beside the journal. */
async function openAdmin(
  { values }: Arguments,
  service: AnyService,
  journal: string | undefined,
  voice: Voice,
): Promise<(() => void) | null> {
  const written = values.get("admin");
  if (written === undefined && journal === undefined) return null;
  try {
    const path = written ?? doorOf(journal ?? "");
    const reached = {
      hosts: () => serviceHosts(service),
      parked: parkedOf(service),
      inspector: inspectorOf(service),
      observe: service.observe,
    };
    return await openDoor(path, reached, written === undefined);
  } catch (error) {
    if (written === undefined) {
      voice.note(messageOf(error)); // no caller has asked for it
      return null;
    }
    await service.stop();
    throw error;
  }
}

function rangeOf({ values }: Arguments): HostRange {
  const written = values.get("hosts") ?? "1";
  const range = hostsIn(written);
  if (range === null) {
    throw misused(
      run,
      `--hosts is a number from 1 to ${HOSTS_MAX}, or two of them, 1..4, or cores, not "${written}".`,
    );
  }
  if (range.max === 1 && values.has("admin")) {
    throw misused(run, "--admin lets `headwater hosts` in; it needs --hosts with more than one as well.");
  }
  if (range.min === range.max && values.has("policy")) {
    throw misused(run, "--policy says when hosts come and go; it needs --hosts MIN..MAX as well.");
  }
  return range;
}

async function hostsOf(
  { values }: Arguments,
  { min, max }: HostRange,
  voice: Voice,
): Promise<number | ElasticHosts> {
  if (min === max) return min;
  const file = values.get("policy");
  return { min, max, ...(file === undefined ? {} : await policyIn(file)), onDecision: voice.decision };
}

async function recordingOf({ values }: Arguments, voice: Voice): Promise<LoadFile | null> {
  const file = values.get("record-load");
  if (file === undefined) return null;
  const full = () => voice.note(`${file} has as many events as it may; no more are recorded.`);
  return loadFile(file, full).catch((error: Error) => {
    throw misused(run, `${file} cannot be written: ${error.message}.`);
  });
}
