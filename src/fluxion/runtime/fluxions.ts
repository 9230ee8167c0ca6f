import { AnonymousContext, Context } from "../../model/context.js";
import type { Claims } from "./claims.js";
import type { Parcel } from "./parcel.js";
import { StageRefusal } from "./refusal.js";
import { StageTurns } from "./turns.js";
import { type FoundStage, perform } from "./work.js";

/** How this thread finds its stages, and which of them it may begin; set by the module that threads load. */
let find: (id: string) => FoundStage = (id) => {
  throw new StageRefusal(`there is no stage ${id} here`);
};
let claims: Pick<Claims, "begin"> = { begin: () => true };
const turns = new StageTurns();

export function stagesAre(finder: (id: string) => FoundStage, theirs: Claims): void {
  find = finder;
  claims = theirs;
}

/** Stages have no state of their own, so they are events of an anonymous context and never wait. */
class StageWorker extends AnonymousContext<number> {
  /** Null if the stage was taken back before its turn came. */
  stage(place: number, id: string, ...parcel: unknown[]): Promise<Parcel | null> | Parcel | null {
    return turns.run(() => (claims.begin(place) ? perform(() => find(id), parcel) : null));
  }
}

/** A compiled program: one logical node. Its groups stay on the main loop, its stages are spread over threads. */
export class Fluxions extends Context {
  workers = this.children(StageWorker);
}
