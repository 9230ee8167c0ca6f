import { showLabel } from "../../analysis/index.js";
import { HeadwaterError } from "../../errors.js";
import type { QueryFact } from "../../model/query-facts.js";
import {
  type Candidate,
  type CoordinationChoice,
  type CoordinationDecision,
  chosen,
  coordinationText,
  decide,
  type QueryFacts,
  type StreamFacts,
} from "../coordination/index.js";
import type { StreamDefinition } from "../graph/index.js";
import { traitsOf } from "../plan/index.js";

const WORDS = ["coordination", "reason", "state_retention"];

type Given = Pick<Candidate, "query" | "plan" | "inputs"> & {
  readonly options: Readonly<Record<string, string>>;
};

/**
 * Decides on the queries of a class as a registration at the service does. The rows of a context come in the order of tickets, which
 * a replay repeats; another run of the same requests has other tickets. So a query whose answers depend on order says what it does about it.
 */
export class ProgramCoordination {
  readonly #streams = new Map<string, StreamDefinition>();
  readonly #queries: QueryFacts[] = [];
  readonly #facts: QueryFact[] = [];

  get facts(): readonly QueryFact[] {
    return this.#facts;
  }

  add(definition: StreamDefinition): void {
    this.#streams.set(definition.name, definition);
  }

  decide(
    name: string,
    isView: boolean,
    { query, plan, inputs, options }: Given,
  ): { readonly emit: CoordinationDecision["emit"]; readonly chosen: CoordinationChoice | null } {
    const unknown = Object.keys(options).find((word) => !WORDS.includes(word));
    if (unknown !== undefined)
      throw new HeadwaterError(
        "HW-5403",
        `"${name}": WITH of a query in a program knows no ${JSON.stringify(unknown.slice(0, 80))}; it knows ${WORDS.join(", ")}.`,
      );
    const { coordination } = chosen({ coordination: options.coordination, reason: options.reason });
    const candidate: Candidate = { name, query, plan, inputs, isView, coordination, partitions: 1 };
    for (const [stream, columns] of Object.entries(query.tables))
      if (!this.#tables.has(stream)) this.#tables.set(stream, columns);
    const streams = [...this.#streams.values()].map((each) => this.#factsOf(each));
    const decision = decide(streams, this.#queries, candidate);
    const { emit, retracts, query: examined } = decision;
    const time = traitsOf(plan, inputs, emit).bounds[0]?.index ?? null;
    const watermark = time === null ? null : (plan.columns[time]?.name ?? null);
    this.#queries.push({ name, query, coordination, retracts, watermark });
    this.#facts.push({
      name,
      label: showLabel(examined.label, examined.seals),
      coordination: coordinationText(decision),
    });
    return { emit, chosen: coordination };
  }

  /** The columns of streams by their SQL types, as the first query that reads them has them. */
  readonly #tables = new Map<string, StreamFacts["columns"]>();

  #factsOf({ name, kind, columns, key, time }: StreamDefinition): StreamFacts {
    return {
      ...{ name, columns: this.#tables.get(name) ?? [], isEstimated: false, seals: null },
      key: key.map((index) => columns[index]?.name ?? ""),
      watermark: time === null ? null : (columns[time.column]?.name ?? null),
      isSingleWriter: kind === "table",
    };
  }
}
