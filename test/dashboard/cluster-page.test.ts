import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { statusOf } from "#src/cluster/index.js";
import { Running } from "../cli/headwater.js";
import { NatsServers } from "../nats-servers.js";
import { browserFor } from "../server/chromium.js";
import { until } from "../waits.js";
import { audited } from "./audited.js";
import { figure } from "./figures.js";

const BANK = fileURLToPath(new URL("../cluster/programs/bank.ts", import.meta.url));
const NAMES = ["a", "b", "c"];

let address: string;
let folder: string;
const members = new Map<string, Running>();
const closing: (() => unknown)[] = [];
const file = { after: (close: unknown) => void closing.unshift(close as () => unknown) };

/** Three processes of one program, each with a dashboard of its own. */
before(async () => {
  const servers = await NatsServers.start();
  closing.push(() => servers.stop());
  address = `${servers.address(0)}/page`;
  folder = mkdtempSync(join(tmpdir(), "headwater-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of NAMES) {
    const own = ["--cluster", address, "--name", name, "--dashboard", "--port", "0", "--forever"];
    const member = new Running(["run", BANK, ...own], folder);
    members.set(name, member);
    file.after(async () => {
      member.interrupt();
      await member.ended;
    });
  }
  await Promise.all([...members.values()].map((member) => member.hasWritten("#code=")));
});
after(async () => {
  for (const close of closing) await close();
});

const nameOf = (member: string) => member.replace(/-[^-]+$/, "");
const headNow = async () =>
  nameOf((await statusOf(address)).members.find(({ isHead }) => isHead)?.member ?? "");

test("the page of any member shows the cluster, hands it over, drains a member, and sees one that is killed", async () => {
  const browser = await browserFor(file);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(Number(process.env.WAIT ?? 120_000));
  const problems: string[] = [];
  page.on("pageerror", ({ message }) => problems.push(message));
  await until(async () => (await headNow()) !== "");
  // A member that is not the head: what it shows, it hears from the others.
  const head = await headNow();
  const [other = "", third = ""] = NAMES.filter((name) => name !== head);
  const entry =
    /(http:\S+#code=\S+)/.exec(members.get(other)?.stderr + (members.get(other)?.stdout ?? ""))?.[1] ?? "";
  await page.goto(entry);
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Cluster" }).click();
  const table = page.getByRole("table", { name: "Members" });
  const row = (name: string) =>
    table
      .getByRole("row")
      .filter({ has: page.getByRole("rowheader", { name: new RegExp(`^${name}(-|$)`) }) });
  await until(async () => (await table.getByRole("row").count()) === 4);
  assert.match((await row(head).textContent()) ?? "", /head/);
  await page
    .getByText("What is acknowledged survives SIGKILL and the loss of the disk of any one server")
    .waitFor();
  await figure(page, "cluster");
  await audited(page, "Cluster");

  await row(third)
    .getByRole("button", { name: `Make head: ${third}` })
    .click();
  await until(async () => nameOf((await page.textContent("#cluster-head")) ?? "") === third);
  assert.equal(await headNow(), third);

  // A drained member is asked about first, and is no candidate any more.
  page.once("dialog", (dialog) => dialog.accept());
  await row(head)
    .getByRole("button", { name: `Drain ${head}` })
    .click();
  await until(async () => /drained/.test((await row(head).textContent()) ?? ""));
  assert.equal(await row(head).getByRole("button").count(), 0);

  members.get(third)?.interrupt("SIGKILL");
  await until(async () => nameOf((await page.textContent("#cluster-head")) ?? "") === other);
  await until(async () => (await row(third).count()) === 0);
  assert.deepEqual(problems, []);
});
