import { type Label, severityOf, showLabel } from "../../analysis/index.js";
import { examine, type QueryFacts, type StreamFacts } from "../coordination/index.js";
import type { Described } from "./describe.js";
import { factsIn } from "./registration.js";

/** What the analysis says of a query's answers: how much they may differ between runs, and what is done about it. */
export interface StreamLabel {
  readonly label: Label;
  /** From 1, the best, to 5. */
  readonly severity: number;
  /** As the paper writes it: `Seal_{≤at}`. */
  readonly text: string;
  readonly coordination: "none" | "order" | "seal";
}

/** A stream or query with its label; streams from outside have none. */
export interface GraphStream extends Described {
  readonly label: StreamLabel | null;
}

/** Labels of all queries of a graph. They depend on the definitions alone, so they are found anew only when those change. */
export class Labels {
  #definitions = "";
  #labels: ReadonlyMap<string, StreamLabel> = new Map();

  async of(catalog: ReadonlyMap<string, Described>): Promise<readonly GraphStream[]> {
    const all = [...catalog.values()];
    const definitions = JSON.stringify(
      all.map(({ name, sql, coordination, columns, key }) => [name, sql, coordination, columns, key]),
    );
    if (definitions !== this.#definitions) {
      this.#labels = labelsOf(...(await factsIn(catalog, new Set(catalog.keys()))));
      this.#definitions = definitions;
    }
    return all.map((described) => ({ ...described, label: this.#labels.get(described.name) ?? null }));
  }
}

function labelsOf(
  streams: readonly StreamFacts[],
  queries: readonly QueryFacts[],
): ReadonlyMap<string, StreamLabel> {
  const { queries: examined } = examine(streams, queries);
  return new Map(
    [...examined].map(([name, { label, seals, coordination }]) => [
      name,
      {
        ...{ label, severity: severityOf(label), text: showLabel(label, seals) },
        coordination: coordination.inForce.kind,
      },
    ]),
  );
}
