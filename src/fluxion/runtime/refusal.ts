/** A stage cannot run, or go on, in a worker; it runs on the main loop instead. Never seen by the program. */
export class StageRefusal extends Error {
  override readonly name = "Refusal";
}
