/** What a CI looks at: each stream that is worse than Async, and how that compares with what was known before. */

import { HeadwaterError } from "../errors.js";
import { advise, type Fault } from "./advice.js";
import type { Analysis } from "./analyze.js";
import { compare } from "./compare.js";
import type { Acceptance } from "./graph.js";
import { isAnomaly, LABELS, type Label, severityOf } from "./labels.js";

export interface Finding {
  readonly stream: string;
  readonly label: Label;
  readonly accepted: Acceptance | null;
  /** Where it begins. */
  readonly fault: Fault;
}

/** What was known of a stream. */
export interface KnownLabel {
  readonly stream: string;
  readonly label: Label;
}

export interface BaselineComparison {
  /** Findings that are not accepted and are worse than the baseline says. */
  readonly fresh: readonly Finding[];
  /** Findings that are not accepted and no worse than the baseline says. */
  readonly known: readonly Finding[];
  /** What the baseline has, and is now better or gone. */
  readonly fixed: readonly KnownLabel[];
}

export function findingsOf(analysis: Analysis): Finding[] {
  return advise(analysis)
    .flatMap((fault) =>
      fault.streams.map(({ name, label, accepted }) => ({ stream: name, label, accepted, fault })),
    )
    .sort((a, b) => compare(a.stream, b.stream));
}

export function compared(findings: readonly Finding[], baseline: readonly KnownLabel[]): BaselineComparison {
  const before = new Map(baseline.map(({ stream, label }) => [stream, severityOf(label)]));
  const open = findings.filter(({ accepted }) => accepted === null);
  const now = new Map(open.map(({ stream, label }) => [stream, severityOf(label)]));
  const isKnown = ({ stream, label }: Finding) => severityOf(label) <= (before.get(stream) ?? 0);
  return {
    fresh: open.filter((each) => !isKnown(each)),
    known: open.filter(isKnown),
    fixed: baseline.filter(({ stream, label }) => (now.get(stream) ?? 0) < severityOf(label)),
  };
}

const VERSION = 1;

/** One finding a line, so that the diff of a baseline can be reviewed. */
export function baselineText(findings: readonly Finding[]): string {
  const open = findings.filter(({ accepted }) => accepted === null);
  const lines = open.map(({ stream, label }) => `    ${JSON.stringify({ stream, label })}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
  return `{\n  "version": ${VERSION},\n  "findings": ${list}\n}\n`;
}

/** Throws HW-5010 if the text is no baseline. */
export function readBaseline(text: string, source: string): KnownLabel[] {
  const refuse = (why: string): never => {
    throw new HeadwaterError(
      "HW-5010",
      `${source} is no baseline: ${why}. Write one with --baseline ${source} --update-baseline.`,
    );
  };
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  const { version, findings } = (data ?? {}) as { version?: unknown; findings?: unknown };
  if (version !== VERSION) return refuse(`its version is ${JSON.stringify(version)}, not ${VERSION}`);
  if (!Array.isArray(findings)) return refuse('it has no list of "findings"');
  return findings.map((each: unknown) => {
    const { stream, label } = (each ?? {}) as { stream?: unknown; label?: unknown };
    const known = LABELS.find((one) => one === label);
    if (typeof stream === "string" && known !== undefined && isAnomaly(known))
      return { stream, label: known };
    return refuse(`${JSON.stringify(each)} is not { stream, label }`);
  });
}
