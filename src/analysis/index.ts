/**
 * Where a dataflow needs coordination, why, and the cheapest kind that suffices: the analysis of Blazes. `graph.ts`
 * has the data that goes in, `analyze.ts` what comes out; `file` reads annotation files, `show` writes reports.
 */

export { queryFunction } from "../sql/index.js";
export { advise, type Fault, type SealAdvice } from "./advice.js";
export { type Analysis, analyze, type LabelledStream } from "./analyze.js";
export { Dependencies } from "./dependencies.js";
export type { Derivation, DerivationStep, Reconciliation } from "./derivation.js";
export { type DeriveFromSql, type ReadOptions, readDataflow } from "./file/read.js";
export {
  type BaselineComparison,
  baselineText,
  compared,
  type Finding,
  findingsOf,
  type KnownLabel,
  readBaseline,
} from "./findings.js";
export type {
  Acceptance,
  AnnotationKind,
  AttributeType,
  ColumnTypes,
  Component,
  ComponentPath,
  Dataflow,
  Delivery,
  Dependency,
  Gate,
  Lineage,
  Meeting,
  Override,
  Port,
  Reason,
  Repetition,
  Runs,
  Seal,
  SourcePosition,
  Stream,
} from "./graph.js";
export { isAnomaly, LABELS, type Label, severityOf, showAnnotation, showLabel, showSeal } from "./labels.js";
export { type Choice, type Coordination, coordinated, planCoordination } from "./plan.js";
export type { Rule } from "./rules.js";
export type { Hold, SealedStream } from "./sealing.js";
export { toDot } from "./show/dot.js";
export { toJson } from "./show/json.js";
export { checkStream, showDerivation } from "./show/proof.js";
export { toSarif } from "./show/sarif.js";
export { toSvg } from "./show/svg.js";
export { showAnalysis, showFault } from "./show/text.js";
export {
  type DerivedPath,
  type DerivedQuery,
  type DerivedReason,
  type DeriveOptions,
  derive,
  derivePaths,
  deriveQuery,
} from "./sql/derive.js";
