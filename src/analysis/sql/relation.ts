import type { Span } from "../../sql/index.js";
import type { Repetition } from "../graph.js";
import { both, moving, type Signs, wavering } from "./sign.js";
import type { ColumnFacts, ColumnOrigin, Computed } from "./value.js";

/** The attributes of a scan that cut its rows into parts which never meet; `null` as long as every row is its own part. */
export type RowParts = ReadonlySet<string> | null;

/** What is known of the rows that an operator gives. All maps are by the number of a scan. */
export interface Relation {
  columns: readonly ColumnFacts[];
  /** How the set of rows moves. */
  rows: Signs;
  repetition: ReadonlyMap<number, Repetition>;
  parts: ReadonlyMap<number, RowParts>;
  /** Attributes that are compared with a constant: rows with other values play no part. */
  fixed: ReadonlyMap<number, ReadonlySet<string>>;
  /** The same with a column of a query `depth` levels further out. */
  bound: readonly { readonly scan: number; readonly attribute: string; readonly depth: number }[];
  /** The scans whose rows must be kept to go on. */
  kept: ReadonlySet<number>;
}

/** A sentence about an operator, for readers of the scans' annotations. */
export interface Note {
  readonly scans: readonly number[];
  readonly text: string;
  readonly span: Span;
  /** It is about something that breaks confluence, not about something that keeps it. */
  readonly breaks: boolean;
}

/** What is gathered on the way through a plan. */
export class QueryFindings {
  readonly #notes: Note[] = [];
  readonly #computed = new Map<number, Map<string, Computed>>();
  readonly #named = new Map<string, string>();
  readonly #equal = new Map<string, Set<string>>();
  readonly #asked = new Map<string, Set<number>>();
  readonly #meetings = new Map<number, Set<number>>();
  readonly tableOf = new Map<number, string>();

  get notes(): readonly Note[] {
    return this.#notes;
  }

  note(scans: readonly number[], text: string, span: Span, breaks: boolean): void {
    if (scans.length > 0) this.#notes.push({ scans, text, span, breaks });
  }

  compute(scan: number, attribute: string, computed: Computed): void {
    const known = this.#computed.get(scan) ?? new Map<string, Computed>();
    this.#computed.set(scan, known.set(attribute, computed));
  }

  computed(scan: number, attribute: string): Computed | undefined {
    return this.#computed.get(scan)?.get(attribute);
  }

  /** A name for what `definition` says: the short one, unless the query means something else by it elsewhere. */
  name(short: string, long: string, definition: string): string {
    const taken = this.#named.get(short) ?? definition;
    this.#named.set(short, taken);
    return taken === definition ? short : long;
  }

  /** Rows of different scans meet only if they agree in these attributes. */
  equate(origins: readonly ColumnOrigin[]): void {
    const exact = origins.filter(({ injective }) => injective);
    for (const one of exact) {
      for (const other of exact) {
        if (one.scan === other.scan) continue;
        const name = placeOf(one);
        this.#equal.set(name, (this.#equal.get(name) ?? new Set()).add(placeOf(other)));
      }
    }
  }

  /** What one scan's rows do to the answer depends on the rows of the other. */
  meet(scans: Iterable<number>, others: Iterable<number>): void {
    const all = [...others];
    for (const scan of scans) {
      for (const other of all) {
        this.#meetings.set(scan, (this.#meetings.get(scan) ?? new Set()).add(other));
        this.#meetings.set(other, (this.#meetings.get(other) ?? new Set()).add(scan));
      }
    }
  }

  doMeet(scan: number, other: number): boolean {
    return this.#meetings.get(scan)?.has(other) === true;
  }

  /** Rows of the two scans that meet have the same value of the attribute, or of the columns that it is made of. */
  agreeIn(attribute: string, scan: number, other: number): boolean {
    if (this.areEqual(scan, attribute, other, attribute)) return true;
    const [from, same] = [scan, other].map((each) => this.computed(each, attribute)?.from);
    return (
      from !== undefined &&
      same?.join("\0") === from.join("\0") &&
      from.every((base) => this.areEqual(scan, base, other, base))
    );
  }

  /** Rows of a scan are asked for by the value that a parameter has. */
  ask(origins: readonly ColumnOrigin[], parameter: number): void {
    for (const origin of origins.filter(({ injective }) => injective)) {
      const name = placeOf(origin);
      this.#asked.set(name, (this.#asked.get(name) ?? new Set()).add(parameter));
    }
  }

  areEqual(scan: number, attribute: string, other: number, otherAttribute: string): boolean {
    const name = placeOf({ scan: other, attribute: otherAttribute });
    return this.#equal.get(placeOf({ scan, attribute }))?.has(name) === true;
  }

  isAsked(scan: number, attribute: string, parameter: number): boolean {
    return this.#asked.get(placeOf({ scan, attribute }))?.has(parameter) === true;
  }

  /** What the columns are that an origin is made of. */
  bases({ scan, attribute }: ColumnOrigin): readonly string[] {
    return this.computed(scan, attribute)?.from ?? [attribute];
  }
}

function placeOf({ scan, attribute }: Pick<ColumnOrigin, "scan" | "attribute">): string {
  return `${scan} ${attribute}`;
}

/**
 * An operator that lets rows meet that agree in some columns (a group, a match, a duplicate) cuts its input into parts by
 * these columns. Parts of an operator above another one are parts for both: the attributes that both allow. An attribute
 * that is a function of allowed ones is allowed too, because its parts are unions of theirs.
 */
export function meetIn(
  relation: Relation,
  by: readonly ColumnFacts[],
  findings: QueryFindings,
): ReadonlyMap<number, RowParts> {
  const parts = new Map<number, RowParts>();
  for (const [scan, before] of relation.parts) {
    const allowed = new Set<string>([
      ...by.flatMap(({ origins }) => ownAttributes(origins, scan)),
      ...(relation.fixed.get(scan) ?? []),
      ...relation.bound.flatMap((each) => (each.scan === scan ? [each.attribute] : [])),
    ]);
    const allows = (set: ReadonlySet<string>, attribute: string) =>
      set.has(attribute) ||
      (findings.computed(scan, attribute)?.from.every((base) => set.has(base)) ?? false);
    parts.set(
      scan,
      before === null
        ? allowed
        : new Set([...allowed, ...before].filter((each) => allows(allowed, each) && allows(before, each))),
    );
  }
  return parts;
}

export function ownAttributes(origins: readonly ColumnOrigin[], scan: number): string[] {
  return origins.flatMap((origin) => (origin.scan === scan && origin.injective ? [origin.attribute] : []));
}

/** Two relations side by side, as in a join; columns are left alone. */
export function mergeInto(target: Relation, other: Relation): void {
  target.parts = new Map([...target.parts, ...other.parts]);
  target.fixed = new Map([...target.fixed, ...other.fixed]);
  target.kept = new Set([...target.kept, ...other.kept]);
}

export function fix(relation: Relation, origins: readonly ColumnOrigin[]): void {
  const fixed = new Map(relation.fixed);
  for (const { scan, attribute, injective } of origins)
    if (injective) fixed.set(scan, new Set([...(fixed.get(scan) ?? []), attribute]));
  relation.fixed = fixed;
}

/** The rows of a relation once its columns may not move any more: a row whose value moves goes, and another comes. */
export function settledRows(relation: Relation): Signs {
  return both(relation.rows, wavering(...relation.columns.map(({ moves }) => moves)));
}

export function settledColumns(columns: readonly ColumnFacts[]): ColumnFacts[] {
  return columns.map((column) => ({ ...column, moves: new Map(), nulls: "never" }));
}

/** After an operator that keeps one of many equal rows. */
export function absorbed(relation: Relation, by: readonly ColumnFacts[]): ReadonlyMap<number, Repetition> {
  return repeated(relation, by, "absorbs");
}

/** What passed on repetition does `otherwise` now; what minds it, or is compared by a value that does, still minds. */
export function repeated(
  relation: Relation,
  by: readonly ColumnFacts[],
  otherwise: Repetition | null,
): ReadonlyMap<number, Repetition> {
  const result = new Map<number, Repetition>();
  for (const [scan, before] of relation.repetition)
    result.set(scan, before === "passes" && otherwise !== null ? otherwise : before);
  for (const { minds } of by) for (const scan of minds) result.set(scan, "minds");
  return result;
}

export function allScans(relation: Relation): number[] {
  return [...relation.parts.keys()];
}

export function movingColumns(
  relation: Relation,
): { readonly scans: readonly number[]; readonly what: Span | null }[] {
  return relation.columns.flatMap(({ moves, what }) =>
    moving(moves).length === 0 ? [] : [{ scans: moving(moves), what }],
  );
}

/**
 * What a subquery in an expression brings along: its rows are kept and looked at, but give no rows. Whether the expression
 * minds their repetition is the expression's to say.
 */
export function embed(own: Relation, inner: Relation, findings: QueryFindings): void {
  findings.meet(allScans(inner), [...allScans(inner), ...allScans(own)]);
  own.kept = new Set([...own.kept, ...allScans(own), ...allScans(inner)]);
  mergeInto(own, inner);
  own.repetition = new Map([
    ...[...inner.repetition.keys()].map((scan) => [scan, "absorbs"] as const),
    ...own.repetition, // last: a condition inside may be about the rows outside
  ]);
  own.bound = [
    ...own.bound,
    ...inner.bound.flatMap((each) => (each.depth > 1 ? [{ ...each, depth: each.depth - 1 }] : [])),
  ];
}
