/**
 * A dataflow as the analysis sees it (Blazes, sections II and IV): plain data, made by an annotation file, derived
 * from SQL, or written down by a program. Everything else in this folder is a function of it.
 */

/** Figure 7. Confluent or order-sensitive, read-only or writing. */
export type AnnotationKind = "CR" | "CW" | "OR" | "OW";

/**
 * The attributes that an order-sensitive path partitions its input by; `"*"` when that is unknown (section IV.A). Empty if
 * it takes all of its input together.
 */
export type Gate = readonly string[] | "*";

/** Where something is written down, counted from 1. `source` is a file or a query. */
export interface SourcePosition {
  readonly source?: string;
  readonly line: number;
  readonly column: number;
}

/** Why an annotation was derived, and from which words of a query. */
export interface Reason {
  readonly text: string;
  readonly position?: SourcePosition;
}

/**
 * What a path makes of a record that comes twice. `passes`: its output comes twice too. `minds`: its state or its
 * output becomes wrong (`count(*)`). `absorbs`: it cannot be observed (`max`, `distinct`).
 */
export type Repetition = "passes" | "minds" | "absorbs";

/** How attributes of the output come from attributes of the input. */
export interface Lineage {
  readonly from: readonly string[];
  readonly to: string;
  /** Different inputs give different outputs; the identity does. */
  readonly injective: boolean;
  /** A later input never gives an earlier output (`window = floor(time)`). */
  readonly orderPreserving: boolean;
}

/** One way through a component, from an input interface to an output interface. */
export interface ComponentPath {
  readonly from: string;
  readonly to: string;
  readonly annotation: AnnotationKind;
  /** Means nothing on confluent paths. */
  readonly gate: Gate;
  /** Left out: writing paths mind, reading paths pass it on. */
  readonly repetition?: Repetition;
  /** Left out: attributes keep their names and values. */
  readonly lineage?: readonly Lineage[];
  /**
   * The inputs whose records those of this path meet at its output, and in which attributes the records that meet agree.
   * Left out: any input, and records that have an attribute of the same name agree in it.
   */
  readonly meets?: readonly Meeting[];
  /**
   * It does not answer each record but when it suits it, as a standing query does after each batch: then an order of its input
   * says what it keeps, but not which counts and sums it gives out on the way.
   */
  readonly batches?: boolean;
  readonly why?: readonly Reason[];
  readonly position?: SourcePosition;
}

export interface Meeting {
  readonly input: string;
  readonly equal: readonly { readonly own: string; readonly other: string }[];
}

/** How a component is to be coordinated, if not as its labels ask for. */
export interface Override {
  readonly kind: "none" | "seal" | "order";
  readonly reason: string;
  readonly position?: SourcePosition;
}

/** What a column holds, as PostgreSQL calls it, reduced to what decides: how values are ordered. */
export type AttributeType = "number" | "time" | "instant" | "text" | "boolean";

export type ColumnTypes = Readonly<Record<string, AttributeType>>;

/** What a component does when it really runs: a query over its inputs, or a module. */
export type Runs =
  | {
      readonly sql: string;
      readonly tables: Readonly<Record<string, readonly string[]>>;
      readonly to: string;
      /** The types of columns, by table, where they are known. */
      readonly types?: Readonly<Record<string, ColumnTypes>>;
      /** The input that asks. */
      readonly request?: string;
      /** A request stays open and is answered whenever there is something new. Left out: it is answered once. */
      readonly openRequests?: boolean;
    }
  | { readonly module: string };

export interface Component {
  readonly name: string;
  readonly paths: readonly ComponentPath[];
  /** It has several instances that are given the same input. Left out: it has if a stream that it reads is replicated. */
  readonly rep?: boolean;
  readonly coordination?: Override;
  /** For `headwater analyze --check`, which tries whether its annotations are true. */
  readonly runs?: Runs;
  readonly position?: SourcePosition;
}

/** An end of a stream: an interface of a component. */
export interface Port {
  readonly component: string;
  readonly interface: string;
}

/**
 * A producer's promise that a partition is complete. A prefix seal is a watermark: it completes everything up to a
 * value of its one attribute.
 */
export interface Seal {
  readonly key: readonly string[];
  readonly prefix: boolean;
  /** A watermark that is only estimated: records may still come after it. */
  readonly late?: boolean;
}

export type Delivery = "exactly-once" | "at-least-once";

export interface Stream {
  readonly name: string;
  /** `null` for a stream that comes from outside. */
  readonly from: Port | null;
  /** `null` for a stream that leaves the dataflow. */
  readonly to: Port | null;
  readonly seals: readonly Seal[];
  /** Left out: replicated if its producer is. */
  readonly rep?: boolean;
  /** Left out: exactly once, unless its producer repeats. */
  readonly delivery?: Delivery;
  /** The attributes that identify an event, so that a receiver can drop what comes twice. */
  readonly id?: readonly string[];
  /**
   * Records that agree in these attributes arrive in the order in which they were sent, everywhere and every time (a
   * partition of a Kafka topic). Empty: all records do.
   */
  readonly ordered?: readonly string[];
  /** One producer writes it, over a channel that keeps the order: ordered as a whole, and its seals need no vote. */
  readonly singleWriter?: boolean;
  /** A record replaces the one before it that agrees with it in these attributes, or takes it back. */
  readonly changelog?: readonly string[];
  /** The attributes of its records, where they are known. */
  readonly attributes?: readonly string[];
  /** Their types, where they are known. */
  readonly types?: ColumnTypes;
  /** Records that the check picks from, for a stream from outside. */
  readonly sample?: readonly Readonly<Record<string, unknown>>[];
  readonly position?: SourcePosition;
}

/** `from` determines `to`, by a function that holds for the records of every stream. */
export interface Dependency {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly injective: boolean;
  /** Between single attributes only. */
  readonly orderPreserving: boolean;
}

/** A stream that is worse than Async was reviewed and accepted. */
export interface Acceptance {
  readonly stream: string;
  /** Nothing worse than this is accepted; left out, anything is. */
  readonly label?: "Run" | "Inst" | "Diverge";
  readonly reason: string;
  readonly position?: SourcePosition;
}

export interface Dataflow {
  readonly components: readonly Component[];
  readonly streams: readonly Stream[];
  readonly dependencies: readonly Dependency[];
  readonly accepted: readonly Acceptance[];
}
