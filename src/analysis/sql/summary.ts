import { positionOf, type ResolvedQuery } from "../../sql/index.js";
import type { Dependency, Gate, Meeting, Repetition } from "../graph.js";
import type { DerivedPath, DerivedQuery, DerivedReason } from "./derive.js";
import { type Note, type QueryFindings, type Relation, settledRows } from "./relation.js";
import type { ColumnOrigin } from "./value.js";

/** From what is known of scans to what is said of tables. */
export class Summary {
  readonly tables: readonly string[];
  readonly #query: ResolvedQuery;
  readonly #relation: Relation;
  readonly #findings: QueryFindings;

  constructor(query: ResolvedQuery, relation: Relation, findings: QueryFindings) {
    this.#query = query;
    this.#relation = relation;
    this.#findings = findings;
    this.tables = [...new Set(findings.tableOf.values())];
    for (const { moves, what } of relation.columns) {
      const span = what ?? query.plan.span;
      const words = what === null ? "a value" : query.text.slice(what.start, what.end);
      findings.note([...moves.keys()], `${words} changes, and is part of the answer`, span, true);
    }
  }

  path(table: string, storedOnly: boolean): DerivedPath {
    const scans = this.#scansOf(table);
    const broken = this.#brokenScans(scans);
    const confluent = broken.length === 0;
    const kept = storedOnly || scans.some((scan) => this.#relation.kept.has(scan));
    // Storing a row for later requests is an append to a log; it is the request that may come too early.
    const annotation = confluent || storedOnly ? (kept ? "CW" : "CR") : kept ? "OW" : "OR";
    const repetition = this.#repetition(scans);
    const gate = annotation.startsWith("C") ? [] : this.#gate(broken);
    return {
      from: table,
      annotation,
      gate,
      why: storedOnly
        ? [this.#say(`rows of ${table} are kept for requests; in which order makes no difference`)]
        : this.#reasons(scans, confluent),
      repetition,
      mindsRepetition: repetition === "minds",
      lineage: this.#lineage(table, scans),
      meets: kept ? this.#meetings(table, gate) : [],
      races: [],
    };
  }

  /**
   * An open request is answered again until nothing changes, so it races only where answers are taken back. One that is
   * answered once races with every row that it could have been answered with.
   */
  requestPath(request: string, stored: readonly string[], open: boolean): DerivedPath {
    const races = stored.flatMap((table) => {
      const scans = this.#scansOf(table);
      const broken = this.#brokenScans(scans);
      if (!open) return [{ from: table, gate: this.#gate(scans, true) }];
      return broken.length === 0 ? [] : [{ from: table, gate: this.#gate(broken) }];
    });
    const confluent = races.length === 0;
    const scans = stored.flatMap((table) => this.#scansOf(table));
    const once = this.#say("a request is answered once, with the rows that have arrived by then");
    return {
      from: request,
      annotation: confluent ? "CR" : "OR",
      gate: this.#commonGate(races),
      why: [...(open ? [] : [once]), ...this.#reasons(scans, confluent)],
      repetition: "passes",
      mindsRepetition: false,
      lineage: this.#lineage(request, this.#scansOf(request)),
      meets: stored.map((table) => ({ input: table, equal: this.#askedBy(request, table) })),
      races,
    };
  }

  output(): DerivedQuery["output"] {
    return this.#query.plan.columns.map(({ name }, i) => ({
      name,
      lineage: (this.#relation.columns[i]?.origins ?? [])
        .filter(({ computed }) => !computed)
        .map(({ scan, attribute, injective, orderPreserving }) => ({
          table: this.#findings.tableOf.get(scan) ?? "",
          column: attribute,
          injective,
          orderPreserving,
        })),
    }));
  }

  dependencies(): Dependency[] {
    const found = new Map<string, Dependency>();
    for (const [scan, parts] of this.#relation.parts) {
      for (const attribute of parts ?? []) {
        const computed = this.#findings.computed(scan, attribute);
        if (computed === undefined) continue;
        const { from, orderPreserving } = computed;
        found.set(JSON.stringify([from, attribute]), {
          from,
          to: [attribute],
          injective: false,
          orderPreserving,
        });
      }
    }
    return [...found.values()];
  }

  #columnsOf(table: string): string[] {
    return (this.#query.tables[table] ?? []).map(({ name }) => name);
  }

  #scansOf(table: string): number[] {
    return [...this.#findings.tableOf].filter(([, each]) => each === table).map(([scan]) => scan);
  }

  #brokenScans(scans: readonly number[]): number[] {
    const rows = settledRows(this.#relation);
    return scans.filter((scan) => ["shrinks", "wavers"].includes(rows.get(scan) ?? "still"));
  }

  /** Rows that are kept may meet the rows of every other table; those of the same table meet in the parts of the gate. */
  #meetings(table: string, gate: Gate): Meeting[] {
    return this.tables.map((input) => {
      if (input === table) {
        return { input, equal: gate === "*" ? [] : gate.map((own) => ({ own, other: own })) };
      }
      const pairs = this.#scansOf(table).flatMap((scan) =>
        this.#scansOf(input).map((other) => [scan, other]),
      );
      const always = (own: string, other: string) =>
        pairs.every(([a = -1, b = -1]) => this.#findings.areEqual(a, own, b, other));
      return { input, equal: this.#pairs(table, input, always) };
    });
  }

  /** What of a request names the rows of a table that it asks for: a parameter, or a column of the answer. */
  #askedBy(request: string, table: string): Meeting["equal"] {
    const scans = this.#scansOf(table);
    const asking = this.#scansOf(request);
    const columns = this.#columnsOf(request);
    const named = (own: string, scan: number, other: string) =>
      this.#findings.isAsked(scan, other, columns.indexOf(own) + 1) ||
      (asking.length === 0 && !this.#query.usesParameters && this.#isShown(own, scan, other)) ||
      (asking.length > 0 && asking.every((each) => this.#findings.areEqual(each, own, scan, other)));
    return this.#pairs(request, table, (own, other) => scans.every((scan) => named(own, scan, other)));
  }

  #isShown(column: string, scan: number, attribute: string): boolean {
    const { columns } = this.#query.plan;
    return this.#relation.columns.some(
      ({ origins }, i) =>
        columns[i]?.name === column &&
        origins.some((each) => each.injective && each.scan === scan && each.attribute === attribute),
    );
  }

  #pairs(table: string, input: string, holds: (own: string, other: string) => boolean): Meeting["equal"] {
    const [own, others] = [this.#columnsOf(table), this.#columnsOf(input)];
    return own.flatMap((each) =>
      others.flatMap((other) => (holds(each, other) ? [{ own: each, other }] : [])),
    );
  }

  /** A row that is only selected is a part of its own, so every column cuts the table into parts. */
  #partsOf(scan: number): ReadonlySet<string> {
    const fixed = this.#relation.fixed.get(scan);
    const columns = this.#columnsOf(this.#findings.tableOf.get(scan) ?? "");
    return (
      this.#relation.parts.get(scan) ?? (fixed !== undefined && fixed.size > 0 ? fixed : new Set(columns))
    );
  }

  /** A table that is used in several ways must be in parts for every use that needs parts. */
  #gate(scans: readonly number[], rowsAreParts = false): Gate {
    const sets = scans.map((scan) =>
      rowsAreParts ? this.#partsOf(scan) : (this.#relation.parts.get(scan) ?? null),
    );
    const [first] = sets;
    if (first === undefined || sets.includes(null)) return "*";
    const table = this.#findings.tableOf.get(scans[0] ?? -1) ?? "";
    const common = [...(first ?? [])].filter(
      (attribute) =>
        sets.every((set) => set?.has(attribute) === true) && this.#staysInPart(attribute, table, scans),
    );
    // In the order of the table's columns, then attributes that no row carries.
    const columns = this.#columnsOf(table);
    return [
      ...columns.filter((each) => common.includes(each)),
      ...common.filter((each) => !columns.includes(each)),
    ];
  }

  /**
   * A partition of a table is taken as a whole, with the rows of all its scans. So rows that meet must be of one partition,
   * also where only one of the two scans minds the order: in `t x WHERE x.a NOT IN (SELECT b FROM t)` a row x meets rows
   * of other partitions, whichever column is sealed.
   */
  #staysInPart(attribute: string, table: string, scans: readonly number[]): boolean {
    const all = this.#scansOf(table);
    return scans.every((scan) =>
      all.every(
        (other) =>
          other === scan ||
          !this.#findings.doMeet(scan, other) ||
          this.#findings.agreeIn(attribute, scan, other),
      ),
    );
  }

  /**
   * A request has one gate for all inputs that it races with. An attribute is in it if no input has it without being in
   * parts by it; a seal on it can then not be taken for one that suffices.
   */
  #commonGate(races: DerivedPath["races"]): Gate {
    if (races.some(({ gate }) => gate === "*")) return "*";
    const all = new Set(races.flatMap(({ gate }) => (gate === "*" ? [] : gate)));
    return [...all].filter((attribute) =>
      races.every(({ from, gate }) => gate.includes(attribute) || !this.#columnsOf(from).includes(attribute)),
    );
  }

  #repetition(scans: readonly number[]): Repetition {
    const own = scans.map((scan) => this.#relation.repetition.get(scan) ?? "absorbs");
    const shown = this.#relation.columns.some(({ minds }) => scans.some((scan) => minds.has(scan)));
    if (shown || own.includes("minds")) return "minds";
    return own.includes("passes") ? "passes" : "absorbs";
  }

  #lineage(table: string, scans: readonly number[]): DerivedPath["lineage"] {
    const columns = this.#columnsOf(table);
    return this.#query.plan.columns.flatMap(({ name: to }, i) =>
      columns.flatMap((column) => {
        const origins = this.#relation.columns[i]?.origins ?? [];
        const own = (scan: number) =>
          origins.filter((each) => each.scan === scan && each.attribute === column && !each.computed);
        if (!scans.some((scan) => own(scan).length > 0)) return [];
        const always = (is: (origin: ColumnOrigin) => boolean) => scans.every((scan) => own(scan).some(is));
        return [
          {
            from: [column],
            to,
            injective: always(({ injective }) => injective),
            orderPreserving: always(({ orderPreserving }) => orderPreserving),
          },
        ];
      }),
    );
  }

  #reasons(scans: readonly number[], confluent: boolean): DerivedReason[] {
    const about = this.#findings.notes.filter(
      (note) => note.scans.some((scan) => scans.includes(scan)) && (confluent || note.breaks),
    );
    const reasons = new Map(
      about.map((note) => [JSON.stringify([note.text, note.span]), this.#reason(note)]),
    );
    if (reasons.size > 0) return [...reasons.values()];
    return [this.#say("only selects, projects and joins rows: what was answered once is never taken back")];
  }

  #reason({ text, span }: Pick<Note, "text" | "span">): DerivedReason {
    return { text, position: positionOf(this.#query.text, span) };
  }

  #say(text: string): DerivedReason {
    return this.#reason({ text, span: this.#query.plan.span });
  }
}
