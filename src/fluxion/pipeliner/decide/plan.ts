import { dirname, relative } from "node:path";
import type { Diagnostic, Place, Receiver, Stage } from "../../pipeline.js";
import type { Body, CallerKind, Hazard } from "../../points-to/index.js";
import type { CallExpression, FunctionNode, Node, SourceModule } from "../../source/index.js";
import type { ModuleSlice } from "../slice/index.js";
import type { StageTarget } from "./method.js";

/** What a stage reads of a request or a response, to be sent along. */
export interface Reads {
  /** `["query", "text"]`, `["body"]` */
  readonly paths: readonly (readonly string[])[];
  /** `["get", "accept"]` for `req.get("accept")` */
  readonly questions: readonly (readonly string[])[];
}

export type StageInput =
  | { readonly kind: "value"; readonly name: string }
  | { readonly kind: "reads"; readonly receiver: string; readonly reads: Reads }
  /** A variable or name of the file; the worker has a variable for it. */
  | { readonly kind: "file"; readonly name: string };

interface PlanBase {
  readonly stage: Stage;
  readonly module: SourceModule;
  readonly slices: ReadonlyMap<SourceModule, ModuleSlice>;
  readonly inputs: readonly StageInput[];
}

/** A whole listener or continuation goes. */
export interface PartPlan extends PlanBase {
  readonly kind: "part";
  readonly node: FunctionNode;
  readonly door: CallerKind;
  readonly receivers: readonly (Receiver & { readonly parameter: number | null })[];
}

/** One call goes. */
export interface CallPlan extends PlanBase {
  readonly kind: "call";
  readonly node: CallExpression;
  /** The function that it stands in. */
  readonly container: Body;
  readonly door: CallerKind | null;
  /** An `await` has to be put in, and the container made asynchronous. */
  readonly awaits: boolean;
  /** Its last argument is its continuation, which stays. */
  readonly posts: boolean;
  /** What a worker calls, if it cannot call what is written there. */
  readonly target: StageTarget | null;
}

export type StagePlan = PartPlan | CallPlan;

/** What was decided about one place: it goes, or it stays and why. */
export type StageDecision =
  | { readonly goes: true; readonly plan: StagePlan }
  | { readonly goes: false; readonly facts: readonly Hazard[] };

/** The file that has the code of a stage. */
export function homeOf(plan: StagePlan): SourceModule {
  return plan.kind === "call" && plan.target !== null ? plan.target.module : plan.module;
}

export function diagnosticOf(fact: Hazard, subject: string, module: SourceModule, node: Node): Diagnostic {
  return {
    code: fact.code,
    place: fact.module.place(fact.node),
    subject,
    subjectPlace: module.place(node),
    reason: fact.reason,
    advice: fact.advice,
  };
}

/** The same program gives the same ids, whatever the folder it lies in. */
export function idOf(entry: string, module: SourceModule, name: string, { line, column }: Place): string {
  const file = FILES.get(module) ?? relative(dirname(entry), module.path);
  FILES.set(module, file);
  return `${file}:${line}:${column}:${name}`;
}

const FILES = new WeakMap<SourceModule, string>();
