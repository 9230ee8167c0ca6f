import type { Analysis } from "../analyze.js";
import { type BaselineComparison, type Finding, findingsOf, type KnownLabel } from "../findings.js";
import type { Label } from "../labels.js";
import { showFault } from "./text.js";

const RULES = [
  { id: "Run", level: "warning", text: "The contents of a stream may differ from one run to the next." },
  { id: "Inst", level: "error", text: "The contents of a stream may differ between replicas in one run." },
  { id: "Diverge", level: "error", text: "The state of replicas may differ for good." },
] as const;

/** For tools that read results of static analyses: SARIF 2.1.0. With a baseline, each result says whether it is new. */
export function toSarif(analysis: Analysis, version: string, comparison: BaselineComparison | null) {
  const results = findingsOf(analysis).map((finding) => ({
    ...result(finding.label, finding.stream, showFault(finding.fault)),
    ...locations(finding, analysis),
    ...(finding.accepted === null
      ? {}
      : { suppressions: [{ kind: "external", justification: finding.accepted.reason }] }),
    ...(comparison === null ? {} : { baselineState: stateOf(finding, comparison) }),
  }));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: driver(version) },
        columnKind: "utf16CodeUnits",
        results: [...results, ...(comparison?.fixed ?? []).map(gone)],
      },
    ],
  };
}

function driver(version: string) {
  return {
    name: "headwater analyze",
    version,
    rules: RULES.map(({ id, level, text }) => ({
      id,
      shortDescription: { text },
      defaultConfiguration: { level },
    })),
  };
}

function result(label: Label, stream: string, text: string) {
  const ruleIndex = RULES.findIndex(({ id }) => id === label);
  return {
    ruleId: label,
    ruleIndex,
    level: RULES[ruleIndex]?.level ?? "warning",
    message: { text: `${stream} is ${label}. ${text}` },
    partialFingerprints: { "stream/v1": stream },
  };
}

interface Located {
  readonly locations: readonly {
    readonly logicalLocations: readonly object[];
    readonly physicalLocation?: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number; readonly startColumn: number };
    };
  }[];
}

function locations({ stream, fault }: Finding, { topology }: Analysis): Located {
  const at = fault.path.position ?? topology.component(fault.component)?.position;
  const logicalLocations = [
    { name: stream, fullyQualifiedName: `${fault.component}.${fault.path.to}/${stream}` },
  ];
  if (at === undefined) return { locations: [{ logicalLocations }] };
  const physicalLocation = {
    artifactLocation: { uri: encodeURI((at.source ?? "").replaceAll("\\", "/")) },
    region: { startLine: at.line, startColumn: at.column },
  };
  return { locations: [{ physicalLocation, logicalLocations }] };
}

function stateOf(finding: Finding, { fresh }: BaselineComparison): "new" | "unchanged" {
  return fresh.some(({ stream }) => stream === finding.stream) ? "new" : "unchanged";
}

function gone({ stream, label }: KnownLabel) {
  return { ...result(label, stream, "It was known, and is no more."), baselineState: "absent" as const };
}
