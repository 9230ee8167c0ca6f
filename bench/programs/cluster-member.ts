/** A process of a cluster, started by `bench/cluster`: `cluster-member.ts ADDRESS NAME`. It counts, drives itself when asked, and ends with its parent. */

import { expose, run, serve } from "headwater";
import { Driver } from "../lib/driver.js";
import { Root } from "../lib/headwater.js";

export type MemberAsk =
  | { readonly n: number; readonly drive: readonly [events: number, inFlight: number] }
  | { readonly n: number; readonly counted: true };
export type MemberAnswer =
  | { readonly n: number; readonly value: unknown }
  | { readonly n: number; readonly error: string };

export const CONTEXTS = 160;

const api = expose(Root, { bump: (root, key: number) => root.counters(key).bump(0) });

async function main(journal: string, name: string, answer: (answer: MemberAnswer) => void): Promise<void> {
  const service = await run(Root, { journal, member: { name } });
  const server = await serve(service, api);
  const refs = Array.from({ length: CONTEXTS }, (_, key) => service.root.counters(key));
  const counted = async () => {
    let total = 0;
    for (const ref of refs) total += await ref.value();
    return total;
  };
  const call = (counter: number) => (refs[counter] as (typeof refs)[number]).bump(0);
  const driver = new Driver({ call, counted, stop: async () => {} }, CONTEXTS);
  process.on("message", (ask: MemberAsk) => {
    const done: Promise<unknown> = "drive" in ask ? driver.drive(...ask.drive, 0) : counted();
    done.then(
      (value) => answer({ n: ask.n, value }),
      (error: unknown) => answer({ n: ask.n, error: String(error) }),
    );
  });
  process.once("disconnect", () => process.exit());
  answer({ n: 0, value: server.url });
}

const [, , journal = "", name = ""] = process.argv;
const send = process.send?.bind(process);
if (send !== undefined) await main(journal, name, (answer) => void send(answer));
