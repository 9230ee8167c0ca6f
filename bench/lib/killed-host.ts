import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { run } from "headwater";
import { temporaryDirectory } from "./append-sync.js";
import Root from "./counters-on-hosts.js";

const module = new URL("./counters-on-hosts.ts", import.meta.url).href;

const SPARE_MS = 3000;

export interface Recovery {
  readonly contexts: number;
  /** From the kill to the first answer of a context that was on the killed host. */
  readonly firstMs: number;
  /** To the last first answer of all its contexts. */
  readonly allMs: number;
  /** The slowest answer of a context on the other host meanwhile. */
  readonly otherMs: number;
}

/** Kills one of two host processes of a program with a journal, and asks all contexts for an event at once. */
export async function killHost(contexts: number): Promise<Recovery> {
  const directory = await temporaryDirectory();
  const journal = join(directory, "journal");
  const service = await run(Root, { hosts: 2, hostsAs: "processes", module, journal, durability: "written" });
  const counters = Array.from({ length: contexts }, (_, key) => service.root.counters(key));
  await Promise.all(counters.map((counter) => counter.bump(0)));
  const where = await Promise.all(counters.map((counter) => counter.where()));
  const killed = where[0] ?? "";
  await sleep(SPARE_MS); // until the spare host has loaded the program: few hosts are lost in their first seconds
  process.kill(Number.parseInt(killed, 10), "SIGKILL");
  const killedMs = performance.now();
  const answered = await Promise.all(
    counters.map(async (counter, i) => {
      const count = await counter.bump(0);
      if (count !== 2) throw new Error(`a counter has counted ${count} instead of 2.`);
      return { wasThere: where[i] === killed, ms: performance.now() - killedMs };
    }),
  );
  await service.stop();
  await rm(directory, { recursive: true });
  const there = answered.filter(({ wasThere }) => wasThere).map(({ ms }) => ms);
  const elsewhere = answered.filter(({ wasThere }) => !wasThere).map(({ ms }) => ms);
  return {
    contexts: there.length,
    firstMs: Math.min(...there),
    allMs: Math.max(...there),
    otherMs: Math.max(...elsewhere),
  };
}
