import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { nkeys } from "@nats-io/transport-node";
import { parse, parseAllDocuments } from "yaml";
import { statusOf } from "#src/cluster/index.js";
import { blocksOf } from "../house/blocks.js";
import { natsServer } from "../nats-server.js";
import { freePorts } from "../nats-servers.js";
import { until, waitFor } from "../waits.js";
import { type Container, Containers } from "./containers.js";
import { problemsOf } from "./manifest-shapes.js";

const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const page = readFileSync(root("docs/guides/deploying.md"), "utf8");
/** The block of the page that begins with the comment `# NAME`. */
function file(name: string): string {
  const found = blocksOf(page).find(({ text }) => text.startsWith(`# ${name}\n`));
  assert.ok(found, `the page has ${name}`);
  return found.text;
}

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command: readonly string[];
  readonly restart: string;
  readonly hostname?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck: { readonly test: readonly string[] };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, object>>;
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly env: readonly {
      readonly name: string;
      readonly value?: string;
      readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
    }[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
    readonly livenessProbe: { readonly tcpSocket: { readonly port: string } };
  }[];
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}

type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
};

const BANK = root("test/cluster/programs");
const ENTRY = [process.execPath, root("dist/cli/main.js")];
const NATS = ["nats1", "nats2", "nats3"];
const user = nkeys.createUser();
const compose = parse(file("compose.yaml").replace(/\$\{HEADWATER_USER\}/g, user.getPublicKey()), {
  merge: true,
}) as Compose;
const manifests = parseAllDocuments(file("kubernetes.yaml")).map((each) => each.toJS() as Manifest);

const folder = mkdtempSync(join(tmpdir(), "headwater-deploying-"));
const key = join(folder, "headwater.nk");
let containers: Containers;
const services = new Map<string, Container>();
const ofKind = (kind: string) => manifests.filter((each) => each.kind === kind);
const stateful = ofKind("StatefulSet")[0] as Manifest;
const pod = (stateful.spec as { template: { spec: Pod } }).template.spec;
const pods = Array.from(
  { length: stateful.spec.replicas as number },
  (_, i) => `${stateful.metadata.name}-${i}`,
);

function portsNamed(): string[] {
  const [published] = pod.containers[0]?.ports ?? [];
  return [
    ...NATS.flatMap((name) => [4222, 6222, 8222].map((port) => `${name}:${port}`)),
    ...Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((each) => `${name}:${each.split(":").at(-1)}`),
    ),
    ...pods.map((name) => `${name}:${published?.containerPort}`),
    "unit:8080",
  ];
}

before(async () => {
  writeFileSync(key, `${new TextDecoder().decode(user.getSeed())}\n`, { mode: 0o400 });
  const names = portsNamed();
  const free = await freePorts(names.length);
  containers = new Containers(new Map(names.map((name, i) => [name, free[i] ?? 0])), BANK);
  const server = await natsServer();
  for (const [name, service] of Object.entries(compose.services)) {
    const isNats = service.image?.startsWith("nats:") === true;
    const mounts = new Map<string, string>();
    for (const secret of service.secrets ?? []) mounts.set(`/run/secrets/${secret}`, key);
    for (const { target } of service.configs ?? []) mounts.set(target, configured(name));
    services.set(name, {
      name,
      program: isNats ? [server] : ENTRY,
      args: service.command,
      environment: { TMPDIR: folder, ...service.environment },
      mounts,
      restarts: service.restart === "unless-stopped",
    });
  }
  for (const name of NATS) containers.start(container(name));
  for (const name of NATS)
    await containers.healthy(compose.services[name]?.healthcheck.test ?? [], container(name));
});
after(async () => {
  await containers.end();
  rmSync(folder, { recursive: true, force: true });
});

function container(name: string): Container {
  const found = services.get(name);
  assert.ok(found, `there is a service ${name}`);
  return found;
}

/** The page's configuration of a server, on the loopback interface, with its own ports and directory. */
function configured(name: string): string {
  const path = join(folder, `${name}.conf`);
  const data = join(folder, name);
  mkdirSync(data);
  const port = (at: number) => containers.port(name, at);
  let text = file("nats.conf").replace("port: 4222", `host: 127.0.0.1, port: ${port(4222)}`);
  text = text.replace("port: 6222", `no_advertise: true, host: 127.0.0.1, port: ${port(6222)}`);
  text = text.replace("http: 8222", `http: "127.0.0.1:${port(8222)}"`).replace("/data", JSON.stringify(data));
  for (const each of NATS) text = text.replace(`${each}:6222`, `127.0.0.1:${containers.port(each, 6222)}`);
  writeFileSync(path, text);
  return path;
}

async function transfer(name: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${containers.port(name, 8080)}/api/transfer`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "[1, 2, 1]",
  });
  return ((await response.json()) as { readonly value: unknown }).value;
}

async function status() {
  const servers = NATS.map((name) => `127.0.0.1:${containers.port(name, 4222)}`).join(",");
  process.env.HEADWATER_NATS_NKEY = key;
  const { members } = await statusOf(`nats://${servers}/bank`);
  const nameOf = (member: string) => member.replace(/-[^-]+$/, "");
  return {
    members: members.map(({ member }) => nameOf(member)).sort(),
    head: members.filter(({ isHead }) => isHead).map(({ member }) => nameOf(member))[0] ?? "",
  };
}

describe("the manifests", () => {
  test("have the fields of Kubernetes' objects, and names that are there", () => {
    assert.deepEqual(manifests.flatMap(problemsOf), []);
    assert.deepEqual(problemsOf({ ...stateful, spec: { ...stateful.spec, replica: 3 } }), [
      "StatefulSet.spec.replica is no field",
    ]);
    const labels = (stateful.spec as { template: { metadata: { labels: object } } }).template.metadata.labels;
    const selectors = manifests.flatMap(({ spec }) => {
      const { selector } = (spec ?? {}) as { selector?: { matchLabels?: object } };
      return selector === undefined ? [] : [selector.matchLabels ?? selector];
    });
    assert.equal(selectors.length, 4);
    for (const selector of selectors) assert.deepEqual(selector, labels);
    assert.ok(ofKind("Service").some(({ metadata }) => metadata.name === stateful.spec.serviceName));
    const [only] = pod.containers;
    assert.ok(only);
    const names = only.ports.map(({ name }) => name);
    assert.ok(
      names.includes(only.readinessProbe.httpGet.port) && names.includes(only.livenessProbe.tcpSocket.port),
    );
    assert.deepEqual(
      only.volumeMounts.map(({ name }) => name).sort(),
      pod.volumes.map(({ name }) => name).sort(),
    );
    const secrets = pod.volumes.flatMap(({ secret }) => secret?.secretName ?? []);
    assert.deepEqual(
      secrets,
      ofKind("Secret").map(({ metadata }) => metadata.name),
    );
    const values = parse(file("nats-values.yaml")) as {
      config: { cluster: { replicas: number }; jetstream: { merge: object } };
    };
    assert.equal(values.config.cluster.replicas, 3);
    assert.deepEqual(values.config.jetstream.merge, { sync_interval: "always" });
  });

  test("of Compose refer to what there is, and start the image's entry point", () => {
    for (const [name, service] of Object.entries(compose.services)) {
      for (const secret of service.secrets ?? []) assert.ok(compose.secrets[secret], `${name}: ${secret}`);
      for (const { source } of service.configs ?? [])
        assert.ok(compose.configs[source], `${name}: ${source}`);
      for (const volume of service.volumes ?? [])
        assert.ok(compose.volumes[volume.split(":")[0] ?? ""], `${name}: ${volume}`);
      for (const other of Object.keys(service.depends_on ?? {}))
        assert.ok(compose.services[other]?.healthcheck, `${name}: ${other}`);
      if (service.hostname !== undefined) assert.equal(service.hostname, name);
    }
    const entry = /ENTRYPOINT (\[.*\])/.exec(page)?.[1] ?? "";
    const { bin } = JSON.parse(readFileSync(root("package.json"), "utf8")) as { bin: Record<string, string> };
    assert.deepEqual(JSON.parse(entry), ["node_modules/.bin/headwater"]);
    assert.equal(join(root(""), bin.headwater ?? ""), ENTRY[1]);
  });
});

describe("run as they say", () => {
  test("the processes of Compose are healthy, one that is killed comes back, and one that is stopped hands over", async () => {
    const own = Object.keys(compose.services).filter((name) => !NATS.includes(name));
    for (const name of own) containers.start(container(name));
    for (const name of own)
      await containers.healthy(compose.services[name]?.healthcheck.test ?? [], container(name));
    assert.deepEqual((await status()).members, [...own].sort());
    for (const [i, name] of own.entries()) assert.equal(await transfer(name), i + 1);
    const { head } = await status();
    containers.kill(head);
    await until(() => containers.starts.get(head) === 2);
    await containers.healthy(compose.services[head]?.healthcheck.test ?? [], container(head));
    await until(async () => (await status()).members.length === own.length);
    const next = (await status()).head;
    assert.equal(await waitFor("for the head to end", containers.stop(next)), 0);
    const left = own.filter((name) => name !== next);
    for (const [i, name] of left.entries()) assert.equal(await transfer(name), own.length + i + 1);
    for (const name of left) assert.equal(await waitFor(`for ${name} to end`, containers.stop(name)), 0);
    assert.doesNotMatch(containers.output, /HW-3107/, "the servers sync what they acknowledge");
  });

  test("the pods of Kubernetes become ready, go on with the state, and end in good order", async () => {
    const [only] = pod.containers;
    assert.ok(only);
    const { readinessProbe, ports } = only;
    const port = ports.find(({ name }) => name === readinessProbe.httpGet.port)?.containerPort ?? 0;
    for (const name of pods) {
      const fields: Readonly<Record<string, string>> = { "metadata.name": name, "status.podIP": "127.0.0.1" };
      const environment = Object.fromEntries(
        only.env.map(({ name: variable, value, valueFrom }) => [
          variable,
          value ?? fields[valueFrom?.fieldRef.fieldPath ?? ""] ?? "",
        ]),
      );
      const args = only.args.map((arg) =>
        arg
          .replace(/\$\((\w+)\)/g, (_, variable: string) => environment[variable] ?? "")
          .replace("nats:4222", "nats1:4222"),
      );
      const secret = only.volumeMounts.find(({ name: volume }) => volume === "nk")?.mountPath ?? "";
      const mounts = new Map([[secret, folder]]);
      const restarts = true;
      containers.start({
        name,
        program: ENTRY,
        args,
        environment: { TMPDIR: folder, ...environment },
        mounts,
        restarts,
      });
    }
    const isReady = async (name: string) => {
      const url = `http://127.0.0.1:${containers.port(name, port)}${readinessProbe.httpGet.path}`;
      return (await fetch(url).catch(() => null))?.ok === true;
    };
    for (const name of pods) await until(() => isReady(name), `until ${name} is ready`);
    assert.deepEqual((await status()).members, pods);
    const [first = ""] = pods;
    const count = Number(await transfer(first));
    assert.ok(count > 5, "the state is that of the cluster");
    for (const [i, name] of pods.entries()) {
      assert.equal(await transfer(name), count + i + 1);
      assert.equal(await waitFor(`for ${name} to end`, containers.stop(name)), 0);
    }
  });

  test("the unit of systemd starts a process", async () => {
    const lines = file("/etc/systemd/system/bank.service").split("\n");
    const all = (name: string) =>
      lines.flatMap((line) => (line.startsWith(`${name}=`) ? line.slice(name.length + 1) : []));
    const said = (text: string) =>
      text.replaceAll("%d", "/creds").replaceAll("%H", "127.0.0.1").replaceAll("%l", "unit");
    const [credential = ""] = all("LoadCredential");
    const environment = Object.fromEntries(
      all("Environment").map((each) => said(each).split("=") as [string, string]),
    );
    assert.equal(environment.HEADWATER_NATS_NKEY, `/creds/${credential.split(":")[0]}`);
    const [node = "", bin, ...args] = said(all("ExecStart")[0] ?? "").split(" ");
    assert.deepEqual([node.split("/").at(-1), bin], ["node", "node_modules/.bin/headwater"]);
    assert.deepEqual([all("Restart"), all("KillSignal")], [["always"], ["SIGTERM"]]);
    const unit: Container = {
      name: "unit",
      program: ENTRY,
      args,
      environment: { ...environment, TMPDIR: folder },
      mounts: new Map([["/creds", folder]]),
      restarts: true,
    };
    containers.start(unit);
    await until(async () => (await status()).head === "unit");
    assert.ok(Number(await transfer("unit")) > 9);
    assert.equal(await waitFor("for its end", containers.stop("unit")), 0);
  });
});
