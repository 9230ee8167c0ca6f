import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePorts } from "../../test/nats-servers.js";
import { until } from "../../test/waits.js";

/** The server and the last SDK that runs on Node 20. */
const PACKAGES = ["@restatedev/restate-server@1.7.12", "@restatedev/restate-sdk@1.10.2"];
const CACHE = fileURLToPath(new URL("../../.cache/restate", import.meta.url));
const ENDPOINT = fileURLToPath(new URL("../programs/restate-endpoint.js", import.meta.url));
const NODES = 3;
/** Not the script in `.bin`, which starts this as a child and does not end it. */
const SERVER = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;

/** Installs Restate into a cache of the project, once. Null: it cannot be had here. */
export async function restateInstalled(progress: (line: string) => void): Promise<string | null> {
  const server = join(CACHE, SERVER);
  if (existsSync(server)) return CACHE;
  progress("installing Restate (about 200 MB) …");
  await mkdir(CACHE, { recursive: true });
  await writeFile(join(CACHE, "package.json"), '{ "private": true }\n');
  const command = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...PACKAGES];
  const error = await promisify(execFile)("npm", command, { cwd: CACHE }).then(
    () => null,
    (failure: Error) => failure,
  );
  if (error === null && existsSync(server)) return CACHE;
  progress(
    `Restate cannot be installed and is left out: ${error?.message ?? "it has no server for this system"}`,
  );
  return null;
}

/** Three Restate servers on this machine that keep each record on a majority, and one process with the counters. */
export class RestateServers {
  readonly #children: ChildProcess[] = [];
  readonly #folder: string;
  readonly #ports: readonly number[];

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
  }

  static async start(installed: string): Promise<RestateServers> {
    const folder = await mkdtemp(join(tmpdir(), "headwater-restate-"));
    const servers = new RestateServers(folder, await freePorts(3 * NODES + 1));
    try {
      await servers.#start(installed);
    } catch (error) {
      await servers.stop();
      throw error;
    }
    return servers;
  }

  /** Where the servers take requests. */
  get ports(): readonly number[] {
    return this.#ports.slice(NODES, 2 * NODES);
  }

  async counted(key: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.ports[0]}/Counter/${key}/value`, {
      method: "POST",
    });
    return Number(await response.text());
  }

  async stop(): Promise<void> {
    const ended = this.#children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    });
    await Promise.all(ended);
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(installed: string): Promise<void> {
    const own = createRequire(join(installed, "package.json"));
    const port = this.#ports[3 * NODES];
    const endpoint = fork(ENDPOINT, [own.resolve("@restatedev/restate-sdk"), String(port)], { execArgv: [] });
    this.#children.push(endpoint);
    await once(endpoint, "message");
    for (let i = 0; i < NODES; i++) this.#children.push(this.#server(installed, i));
    const admin = `http://127.0.0.1:${this.#ports[2 * NODES]}`;
    await until(async () => (await answerOf(`${admin}/health`)) === 200, "until Restate is healthy");
    const deployment = JSON.stringify({ uri: `http://127.0.0.1:${port}` });
    await until(
      async () => (await answerOf(`${admin}/deployments`, deployment)) === 201,
      "until it is deployed",
    );
    for (const each of this.ports)
      await until(
        async () => (await answerOf(`http://127.0.0.1:${each}/Counter/warm/bump`, "0")) === 200,
        "until each server answers",
      );
  }

  #server(installed: string, i: number): ChildProcess {
    const at = (n: number) => `127.0.0.1:${this.#ports[n]}`;
    const nodes = Array.from({ length: NODES }, (_, n) => `http://${at(n)}`);
    return spawn(join(installed, SERVER), ["--no-logo"], {
      stdio: "ignore",
      env: {
        ...process.env,
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_CLUSTER_NAME: "bench",
        RESTATE_NODE_NAME: `n${i}`,
        RESTATE_BASE_DIR: join(this.#folder, String(i)),
        RESTATE_LISTEN_MODE: "tcp",
        RESTATE_BIND_ADDRESS: at(i),
        RESTATE_ADVERTISED_ADDRESS: `http://${at(i)}`,
        RESTATE_INGRESS__BIND_ADDRESS: at(NODES + i),
        RESTATE_INGRESS__ADVERTISED_ADDRESS: `http://${at(NODES + i)}`,
        RESTATE_ADMIN__BIND_ADDRESS: at(2 * NODES + i),
        RESTATE_ADMIN__ADVERTISED_ADDRESS: `http://${at(2 * NODES + i)}`,
        RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(nodes),
        RESTATE_AUTO_PROVISION: String(i === 0),
        RESTATE_DEFAULT_REPLICATION: "2",
      },
    });
  }
}

/** The status of an answer; 0 if there is none in time. */
async function answerOf(url: string, body?: string): Promise<number> {
  const signal = AbortSignal.timeout(5000);
  const asked =
    body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body };
  return await fetch(url, { ...asked, signal }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );
}
