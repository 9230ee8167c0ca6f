import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, rmSync, statSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HeadwaterError } from "../errors.js";
import { type Arguments, absent, misused } from "./arguments.js";
import { dev } from "./dev.js";
import { DevAdmin } from "./dev-admin.js";
import { DevProcess, problemOf } from "./dev-process.js";
import { watchFiles } from "./dev-watch.js";
import { onInterrupt } from "./interrupt.js";
import { findProgram } from "./program-file.js";
import { messageOf } from "./report.js";
import { paint, type Terminal } from "./terminal.js";

const SAMPLE = fileURLToPath(new URL("../../examples/world/", import.meta.url));
const DASHBOARD = "/headwater/";
const [PORT_FIRST, PORTS, PORT_MAX] = [4400, 100, 65_535];

/** `headwater dev`: one program, process after process, until q or Ctrl-C. */
export async function runDev(args: Arguments, terminal: Terminal): Promise<number> {
  const began = performance.now();
  const session = await DevSession.of(args, terminal);
  const interrupt = onInterrupt(() => {});
  const stopKeys = onKeys((key) => session.pressed(key, () => process.kill(process.pid, "SIGINT")));
  try {
    const isUp = await session.start();
    if (!isUp && args.flags.has("no-watch")) return 1;
    if (isUp) session.say(`ready in ${Math.round(performance.now() - began)} ms`);
    if (isUp) await session.help();
    const stopWatching = args.flags.has("no-watch") ? () => {} : session.watch();
    await new Promise<void>((done) => interrupt.signal.addEventListener("abort", () => done()));
    stopWatching();
    return 0;
  } finally {
    stopKeys();
    await session.stop();
    interrupt.release();
  }
}

class DevSession {
  readonly #token = randomBytes(32).toString("base64url");
  readonly #admin: DevAdmin;
  #process: DevProcess | null = null;
  #load = 1;
  /** Starts and stops follow one another. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly terminal: Terminal,
    readonly file: string,
    readonly journal: string,
    readonly url: string,
    readonly runArgs: readonly string[],
    readonly isWatched: boolean,
  ) {
    this.#admin = new DevAdmin(url, this.#token);
  }

  static async of({ operands, values, flags }: Arguments, terminal: Terminal): Promise<DevSession> {
    const [program] = operands;
    const file = program === undefined ? findProgram(SAMPLE, SAMPLE) : findProgram(program, process.cwd());
    const hosts = values.get("hosts") ?? "2";
    if (!/^[1-9]\d{0,2}$/.test(hosts)) throw misused(dev, `--hosts is a number from 1 on, not "${hosts}".`);
    const name = program === undefined ? "sample" : basename(file, extname(file));
    const journal = resolve(values.get("journal") ?? join(".headwater", name));
    const port = String(await portOf(values.get("port")));
    const named = values.get("static");
    if (named !== undefined && !existsSync(named)) throw absent(`There is no folder ${named}.`, dev);
    if (named !== undefined && !statSync(named).isDirectory())
      throw misused(dev, `--static is a folder of files, and ${named} is a file.`);
    const files = named ?? (program === undefined ? join(SAMPLE, "page") : undefined);
    const runArgs = [
      ...[file, "--journal", journal, "--history", "10m", "--dashboard", "--port", port, "--forever"],
      ...(hosts === "1" ? [] : ["--hosts", hosts, "--processes"]),
      ...(files === undefined ? [] : ["--static", files]),
    ];
    return new DevSession(
      terminal,
      file,
      journal,
      `http://127.0.0.1:${port}`,
      runArgs,
      !flags.has("no-watch"),
    );
  }

  say(text: string): void {
    this.terminal.say(paint(this.terminal, "cyan", text));
  }

  start(): Promise<boolean> {
    return this.#inTurn(() => this.#start());
  }

  stop(): Promise<void> {
    return this.#inTurn(() => this.#stop());
  }

  async #start(): Promise<boolean> {
    const started = new DevProcess(this.runArgs, this.#token);
    this.#process = started;
    void started.ended.then((how) => {
      if (this.#process !== started) return; // it was asked to end
      this.#process = null;
      const next = this.isWatched ? " It is started when a file is saved; r begins with empty state." : "";
      this.say(`The program is not running: ${how}.${next}`);
    });
    const isUp = await started.up;
    if (isUp && this.#load !== 1) await this.#admin.setLoad(this.#load).catch(() => {});
    return isUp;
  }

  async #stop(): Promise<void> {
    const stopping = this.#process;
    this.#process = null;
    await stopping?.stop();
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act);
    this.#turn = done.catch(() => {});
    return done;
  }

  watch(): () => void {
    return watchFiles(dirname(this.file), [this.journal], (changed) => {
      void this.#inTurn(() => this.#reload(changed)).catch((error: unknown) => this.say(messageOf(error)));
    });
  }

  /** Replaces the program by what was saved, if that can run with the state there is. */
  async #reload(changed: string): Promise<void> {
    const began = performance.now();
    const shown = relative(process.cwd(), changed);
    const problem = await problemOf(this.file, existsSync(this.journal) ? this.journal : null);
    if (problem !== null) {
      const goesOn = this.#process === null ? "" : " The version before it goes on.";
      const what = existsSync(changed)
        ? "was saved, but cannot run"
        : "is gone, and the program cannot run without it";
      this.terminal.say(paint(this.terminal, "yellow", `${shown} ${what}.${goesOn}`));
      this.terminal.say(problem);
      return;
    }
    await this.#stop();
    if (await this.#start())
      this.say(
        `${shown} was saved: running again after ${Math.round(performance.now() - began)} ms, state kept`,
      );
  }

  async #reset(): Promise<void> {
    await this.#stop();
    rmSync(this.journal, { recursive: true, force: true });
    if (await this.#start()) this.say("running again with empty state");
  }

  /** A key that the user has pressed. */
  pressed(key: string, quit: () => void): void {
    const acts: Readonly<Record<string, () => Promise<unknown>>> = {
      h: () => this.help(),
      o: () => this.#open(),
      l: () => this.#changeLoad(2),
      L: () => this.#changeLoad(0.5),
      k: () => this.#kill(),
      m: () => this.#migrate(),
      r: () => this.#inTurn(() => this.#reset()),
      q: async () => quit(),
      "\u0003": async () => quit(),
    };
    void acts[key]?.().catch((error: unknown) => this.say(messageOf(error)));
  }

  async help(): Promise<void> {
    const lines = [
      `  program    ${this.file.startsWith(SAMPLE) ? await this.#admin.signedIn("/") : `${this.url}/`}`,
      `  dashboard  ${await this.#admin.signedIn(DASHBOARD)}`,
      "  keys       h help · o open the dashboard · l more load, L less · k kill a host · m migrate a context ·",
      "             r start with empty state · q quit",
    ];
    for (const line of lines) this.terminal.say(line);
  }

  async #open(): Promise<void> {
    const entry = await this.#admin.signedIn(DASHBOARD);
    this.terminal.say(`  dashboard  ${entry}`);
    const opener =
      process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
    spawn(opener, [entry], { stdio: "ignore", detached: true })
      .on("error", () => {}) // the address stands above
      .unref();
  }

  async #changeLoad(by: number): Promise<void> {
    this.#load = Math.min(64, Math.max(1 / 8, this.#load * by));
    await this.#admin.setLoad(this.#load);
    this.say(`load ${this.#load} (io.load)`);
  }

  async #kill(): Promise<void> {
    const hosts = (await this.#admin.hosts())?.filter(({ state }) => state === "running") ?? [];
    const host = hosts[Math.floor(Math.random() * hosts.length)];
    if (host === undefined) return this.say("there are no hosts to kill; start with --hosts 2");
    await this.#admin.kill(host.id);
    this.say(`host ${host.id} was killed`);
  }

  async #migrate(): Promise<void> {
    const [busiest, hosts] = [await this.#admin.busiest(), await this.#admin.hosts()];
    const to = hosts?.find(({ id, state }) => id !== busiest?.host && state === "running");
    if (busiest === null || to === undefined) return this.say("there is nothing to migrate, or nowhere to");
    await this.#admin.migrate(busiest.address, to.id);
    this.say(`${busiest.address} has moved to host ${to.id}`);
  }
}

/** A port for the program's whole life, also when it is started again: the one asked for, or the first from 4400 on that is free. */
async function portOf(written: string | undefined): Promise<number> {
  if (written !== undefined && written !== "0") {
    const port = /^\d{1,5}$/.test(written) ? Number(written) : Number.NaN;
    if (!(port <= PORT_MAX))
      throw misused(dev, `--port is a number from 0 to ${PORT_MAX}, not "${written}".`);
    if ((await freePort(port)) !== null) return port;
    throw new HeadwaterError(
      "HW-4020",
      `the port ${port} of 127.0.0.1 is taken. Name another one, or none: --port 0.`,
    );
  }
  const wanted = Array.from({ length: written === "0" ? 0 : PORTS }, (_, i) => PORT_FIRST + i);
  for (const port of [...wanted, 0]) {
    const free = await freePort(port);
    if (free !== null) return free;
  }
  return 0;
}

/** The port, if it is free on the loopback; for 0, any that is. */
function freePort(port: number): Promise<number | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(null));
    server.listen(port, "127.0.0.1", () => {
      const found = (server.address() as AddressInfo).port;
      server.close(() => done(found));
    });
  });
}

/** Hears each key as it is pressed, where people sit at the terminal; elsewhere, lines of standard input. */
function onKeys(pressed: (key: string) => void): () => void {
  const { stdin } = process;
  const isRaw = stdin.isTTY === true;
  if (isRaw) stdin.setRawMode(true);
  const heard = (text: string) => {
    for (const key of text) pressed(key);
  };
  stdin.setEncoding("utf8").on("data", heard); // a file that ends, or nothing at all, ends nothing else
  return () => {
    stdin.off("data", heard).pause();
    if (isRaw) stdin.setRawMode(false);
  };
}
