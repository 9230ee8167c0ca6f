import { HeadwaterError } from "../../errors.js";
import { resolvePath } from "../../model/path.js";
import { methodOf } from "../event/index.js";
import type { Parked, ParkedEvent } from "../store/index.js";
import type { Program } from "./program.js";

/** The parked events of a running program: `parkedOf(service)`. */
export interface ParkedEvents {
  list(): readonly ParkedEvent[];
  /**
   * Runs a parked event again, as a new event with a new ticket. Resolves with its result when it has committed; then it is
   * parked no more. If it fails, it is as gone as any event that fails, and this rejects with its error; if it ends its
   * hosts again, it is parked again, under its new ticket.
   */
  replay(id: string): Promise<unknown>;
  /** Forgets a parked event. */
  drop(id: string): Promise<void>;
}

/** Without a journal, nothing is ever parked. */
export function parkedEvents(program: Program): ParkedEvents {
  const parked = program.ledger?.parked ?? null;
  const replayed = new Set<string>();
  const found = (id: string): Parked => {
    program.mustGoOn();
    if (parked === null)
      throw new HeadwaterError("HW-6033", `no event is parked as "${id}": the program has no journal.`);
    if (replayed.has(id)) throw new HeadwaterError("HW-6033", `the event ${id} is being replayed.`);
    return parked;
  };
  return {
    list: () => parked?.list() ?? [],
    async replay(id) {
      const { node: name, ticket, stored } = found(id).find(id);
      const node = program.node(name);
      const slot = resolvePath(node.root, stored.path);
      const method = methodOf(slot, stored.method);
      replayed.add(id);
      const result = new Promise((resolve, reject) => {
        node.begin(slot, method, stored.args, { kind: "parked", ticket }, { resolve, reject });
      });
      return await result.finally(() => replayed.delete(id));
    },
    drop: async (id) => await found(id).drop(id),
  };
}
