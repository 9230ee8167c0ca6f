import { Context, expose, readonly, run, type ServeOptions, serve } from "headwater";

/**
 * A program whose results are as large as its callers like, as a process of its own: `warehouse.ts OPTIONS`. It prints where it
 * can be reached, and ends when its standard input does.
 */

class Shelf extends Context<string> {
  count = 0;

  /** Changes something and returns a text of the size asked for. */
  take(bytes: number) {
    this.count += 1;
    return "x".repeat(bytes);
  }

  @readonly taken() {
    return this.count;
  }
}

class Warehouse extends Context {
  shelves = this.children(Shelf);

  tell(client: string, bytes: number) {
    this.event.send(client, "x".repeat(bytes));
  }
}

const api = expose(Warehouse, {
  take: (warehouse, shelf: string, bytes: number) => warehouse.shelves(shelf).take(bytes),
  taken: (warehouse, shelf: string) => warehouse.shelves(shelf).taken(),
  tell: (warehouse, client: string, bytes: number) => warehouse.tell(client, bytes),
  put: (warehouse, shelf: string, _goods: unknown) => warehouse.shelves(shelf).take(0),
});

export type WarehouseApi = typeof api;

export interface WarehouseOptions {
  readonly journal?: string;
  readonly serve?: ServeOptions;
}

if (process.argv[2] !== undefined) {
  const { journal, serve: options } = JSON.parse(process.argv[2]) as WarehouseOptions;
  const service = await run(Warehouse, journal === undefined ? {} : { journal });
  const server = await serve(service, api, options);
  console.log(server.url);
  process.stdin.on("end", () => process.exit()).resume();
}
