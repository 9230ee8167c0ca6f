import { AnonymousContext, Context } from "../../model/context.js";
import { Refusal } from "./refusal.js";
import { perform, type StageFunction } from "./work.js";

/** How this thread finds its stages; set by the module that threads load. */
let find: (id: string) => StageFunction = (id) => {
  throw new Refusal(`there is no stage ${id} here`);
};

export function stagesAre(finder: (id: string) => StageFunction): void {
  find = finder;
}

/** Stages have no state of their own, so they are events of an anonymous context and wait for nobody. */
class StageWorker extends AnonymousContext<number> {
  stage(bytes: Uint8Array): Promise<Uint8Array> {
    return perform(bytes, find);
  }
}

/** A compiled program: one logical node. Its groups stay on the main loop, its stages are spread over threads. */
export class Fluxions extends Context {
  workers = this.children(StageWorker);
}
