import type { WorldRequest } from "./world-run.js";

/** How far a request of the workload has come, as its client sees it. */
interface State {
  status: "waiting" | "planned" | "made" | "answered";
  hasId: boolean;
  /** When the present process, or the last one that got it, got it first. */
  madeAt: number;
  /** Requests that wait until it is answered. */
  dependents: number[] | null;
}

/** The clients of a simulated world: what they still have to ask for, and what they wait for. */
export class WorkloadRequests {
  readonly #states: State[];
  readonly #plan: (index: number) => void;

  constructor(
    readonly workload: readonly WorldRequest[],
    plan: (index: number) => void,
  ) {
    this.#plan = plan;
    this.#states = workload.map(() => ({ status: "waiting", hasId: false, madeAt: 0, dependents: null }));
    workload.forEach(({ after }, index) => {
      if (after !== null) (this.#of(after).dependents ??= []).push(index);
    });
  }

  begin(): void {
    this.workload.forEach(({ after }, index) => {
      if (after === null) this.#ready(index);
    });
  }

  /** A request that was added to the workload, as its last one. */
  added(): void {
    this.#states.push({ status: "waiting", hasId: false, madeAt: 0, dependents: null });
    this.#ready(this.#states.length - 1);
  }

  /** Says whether the present process gets it for the first time. */
  make(index: number, step: number, hasId: boolean): boolean {
    const state = this.#of(index);
    if (state.status !== "planned") return false;
    state.status = "made";
    state.hasId = hasId;
    state.madeAt = step;
    return true;
  }

  madeAt(index: number): number {
    return this.#of(index).madeAt;
  }

  answered(index: number): void {
    const state = this.#of(index);
    if (state.status === "answered") return;
    state.status = "answered";
    if (state.dependents !== null) for (const dependent of state.dependents) this.#ready(dependent);
  }

  /** After a crash. Returns requests that are not asked again, because they have no id. */
  askAgain(): number[] {
    const lost: number[] = [];
    for (const [index, { status, hasId }] of this.#states.entries()) {
      if (status === "made" && !hasId) lost.push(index);
      else if (status === "made" || status === "planned") this.#ready(index);
    }
    for (const index of lost) this.answered(index);
    return lost;
  }

  #ready(index: number): void {
    this.#of(index).status = "planned";
    this.#plan(index);
  }

  #of(index: number): State {
    return this.#states[index] as State;
  }
}
