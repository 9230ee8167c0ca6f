import type { Checked } from "./check.js";
import type { Block } from "./component.js";
import { showRecord } from "./deliveries.js";

const RECORDS_SHOWN_MAX = 12;

/** One paragraph for each component. */
export function showChecked({ component, label, coordination, result, difference }: Checked): string {
  const replicas = label === "Inst" || label === "Diverge";
  const [one, other] = replicas ? ["one replica", "another"] : ["one run", "another"];
  const waiting = coordination === "seal" ? ", waiting for seals" : "";
  const title = {
    kept: `${component}: one outcome was promised${waiting}, and nothing else was found.`,
    broken: `${component}: one outcome was promised${waiting}, but the order of deliveries shows.`,
    shown: `${component}: without coordination it is ${label}, and this is how it shows.`,
    hidden: `${component}: without coordination it is ${label}, but no run was found that shows it.`,
    skipped: `${component}: not checked, because nothing says what it runs.`,
  }[result];
  if (difference === null) return title;
  const [first, second] = difference.deliveries;
  const [before, after] = difference.outcomes;
  return [
    title,
    `  ${one} gets    ${first.map(showBlock).join(", then ")}`,
    `  and gives ${showOutcome(before)}`,
    `  ${other} gets  ${second.map(showBlock).join(", then ")}`,
    `  and gives ${showOutcome(after)}`,
  ].join("\n");
}

function showBlock({ input, record, times }: Block): string {
  return `${input} ${showRecord(record)}${times === 1 ? "" : ` × ${times}`}`;
}

function showOutcome(outcome: readonly string[]): string {
  if (outcome.length === 0) return "nothing";
  const more = outcome.length - RECORDS_SHOWN_MAX;
  return outcome.slice(0, RECORDS_SHOWN_MAX).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
