import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf, type ProgramIo, run } from "headwater";
import { Random } from "#src/random.js";
import { printed } from "../examples/printed.js";

type Roots = Parameters<typeof run>[0];

/** What an example prints while contexts are moved all the time, at random. */
async function shown(name: string, hosts: number): Promise<readonly string[]> {
  const module = new URL(`../../examples/${name}.ts`, import.meta.url).href;
  const { default: roots, main } = (await import(module)) as {
    default: Roots;
    main(service: unknown, io: ProgramIo): Promise<void>;
  };
  const service = await run(roots, { hosts, module });
  const random = new Random(hosts);
  let isOver = false;
  let moves = 0;
  const shuffle = async () => {
    const fleet = hostsOf(service);
    while (!isOver) {
      const contexts = fleet.contexts();
      if (contexts.length > 0) {
        await fleet.move(random.pick(contexts).context, random.int(hosts));
        moves += 1;
      }
      await new Promise(setImmediate);
    }
  };
  const shuffling = hosts === 1 ? undefined : Promise.all([shuffle(), shuffle()]);
  const lines = await printed(main, service);
  isOver = true;
  await shuffling;
  await service.stop();
  if (hosts > 1) assert.ok(moves > 0);
  return lines;
}

for (const example of ["kv", "game", "life", "bank"]) {
  test(`${example} prints the same while its contexts are moved between 2 and between 4 hosts`, async () => {
    const alone = await shown(example, 1);
    assert.ok(alone.length > 0);
    for (const hosts of [2, 4]) assert.deepEqual(await shown(example, hosts), alone);
  });
}
