/**
 * Where a dataflow needs coordination, why, and the cheapest kind that suffices: the analysis of Blazes. `graph.ts`
 * has the data that goes in, `analyze.ts` what comes out; `file` reads annotation files, `show` writes reports.
 */

export { advise, type Fault, type SealAdvice } from "./advice.js";
export { type Analysis, analyze, type LabelledStream } from "./analyze.js";
export { type CheckOptions, type CheckResult, check, type Predicted } from "./check/check.js";
export type { DataRecord, Reaction, RunnableComponent } from "./check/component.js";
export type { PathViolation } from "./check/paths.js";
export type { Anomaly, Evidence } from "./check/search.js";
export { checkToJson, showCheck } from "./check/show.js";
export { sqlComponent } from "./check/sql-component.js";
export { Dependencies } from "./dependencies.js";
export type { Derivation, Reconciliation, Step } from "./derivation.js";
export { type DeriveFromSql, type ReadOptions, readDataflow } from "./file/read.js";
export type {
  Acceptance,
  AnnotationKind,
  Component,
  Delivery,
  Dependency,
  Gate,
  Graph,
  Lineage,
  Path,
  Port,
  Position,
  Reason,
  Repetition,
  Seal,
  Stream,
} from "./graph.js";
export { LABELS, type Label, severityOf } from "./labels.js";
export type { Rule } from "./rules.js";
export { toDot } from "./show/dot.js";
export { toJson } from "./show/json.js";
export { checkStream, showDerivation } from "./show/proof.js";
export { toSvg } from "./show/svg.js";
export { showAnalysis } from "./show/text.js";
export {
  type DerivedPath,
  type DerivedQuery,
  type DerivedReason,
  type DeriveOptions,
  derivePaths,
  deriveQuery,
} from "./sql/derive.js";
export { queryFunction } from "./sql/evaluate.js";
