import type {
  AnnotationKind,
  Component,
  ComponentPath,
  Dataflow,
  Gate,
  Override,
  Seal,
  Stream,
} from "headwater/analysis";
import type { DataRecord, RunnableComponent } from "headwater/analysis/check";
import fc from "../properties.js";

/**
 * Random dataflows, cyclic ones too, whose components really do what their annotations say and no less: whatever may depend
 * on order does. So a label that is too good, or a plan that leaves something out, is found out by running them.
 */

const ATTRIBUTES = ["k", "l"] as const;
const HOPS_MAX = 2;

type Attribute = (typeof ATTRIBUTES)[number];

/** A write that a component remembers: by which path, and what. */
interface Written {
  readonly path: number;
  readonly record: DataRecord;
}

/** The same values in these attributes; with an unknown gate, all records are of one part. */
function samePart(gate: Gate, a: DataRecord, b: DataRecord): boolean {
  return gate === "*" || gate.every((attribute) => a[attribute] === b[attribute]);
}

/**
 * What a component with these paths does. Records keep their attributes; `v` tells what they have been through.
 *
 * - `CR` passes records on, `CW` also remembers them.
 * - `OW` tells the sequence of the records in its part so far. It is the right side of an outer join: a record that is
 *   written by another path is passed on together with the sequence of its part.
 * - `OR` tells what all writers have written into its part: of confluent ones the set, of others the sequence.
 */
export function honestComponent(paths: readonly ComponentPath[]): RunnableComponent<readonly Written[]> {
  const told = (log: readonly Written[], gate: Gate, about: DataRecord, of: (path: number) => boolean) => {
    const part = log.filter(({ path, record }) => of(path) && samePart(gate, record, about));
    const texts = part.map(({ path, record }) => `${path}:${record.v}`);
    const sequence = texts.filter((_, i) => paths[part[i]?.path ?? -1]?.annotation === "OW");
    const set = new Set(texts.filter((text) => !sequence.includes(text)));
    return `[${sequence.join()}|${[...set].sort().join()}]`;
  };
  const emission = (
    index: number,
    path: ComponentPath,
    log: readonly Written[],
    record: DataRecord,
  ): string => {
    const own = `${index}(${record.v})`;
    const others = (each: number) => paths[each]?.to === path.to && each !== index;
    if (path.annotation === "CR") return own;
    if (path.annotation === "OR") {
      return own + told(log, path.gate, record, (each) => paths[each]?.to === path.to);
    }
    const met = paths.flatMap((other, i) =>
      others(i) && other.annotation === "OW" ? [told(log, other.gate, record, (each) => each === i)] : [],
    );
    const sequence = path.annotation === "OW" ? told(log, path.gate, record, (each) => each === index) : "";
    return own + sequence + met.join("");
  };
  return {
    initial: () => [],
    receive(log, input, record) {
      const taken = [...paths.entries()].filter(([, { from }]) => from === input);
      const writes = taken.filter(([, { annotation }]) => annotation.endsWith("W"));
      const state = [...log, ...writes.map(([path]) => ({ path, record }))];
      const hops = Number(record.h ?? 0);
      if (hops >= HOPS_MAX) return { state };
      const emit = taken.map(([i, path]) => {
        const v = digest(emission(i, path, state, record));
        return [path.to, { k: record.k, l: record.l, v, h: hops + 1 }] as const;
      });
      return { state, emit };
    },
  };
}

/** Short, so that a record that has gone around does not carry all its history. */
function digest(text: string): string {
  if (text.length < 24) return text;
  let hash = 7;
  for (const character of text) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 2 ** 31;
  return `${text.slice(0, 8)}…${hash.toString(36)}`;
}

/** Mostly the same, so that seals often fit. */
const attribute = fc.constantFrom<Attribute>("k", "k", "k", "l");
const attributes = fc.oneof(
  { weight: 3, arbitrary: attribute.map((each) => [each]) },
  fc.constant<Attribute[]>(["k", "l"]),
);
const gate: fc.Arbitrary<Gate> = fc.oneof({ weight: 5, arbitrary: attributes }, fc.constant<Gate>("*"));
const seal: fc.Arbitrary<Seal> = fc.oneof(
  { weight: 4, arbitrary: attributes.map((key) => ({ key, prefix: false })) },
  fc.tuple(attribute, fc.boolean()).map(([each, late]) => ({
    key: [each],
    prefix: true,
    ...(late ? { late } : {}),
  })),
);
const seals = fc.oneof(
  { weight: 3, arbitrary: fc.array(seal, { minLength: 1, maxLength: 2 }) },
  fc.constant([]),
);
const annotated: fc.Arbitrary<ComponentPath> = fc.record({
  from: fc.constantFrom("a", "a", "b", "b", "c"),
  to: fc.constantFrom("x", "x", "y"),
  annotation: fc.constantFrom<AnnotationKind>("CR", "CW", "CW", "OR", "OW", "OW"),
  gate,
});
const paths = fc.uniqueArray(annotated, {
  minLength: 1,
  maxLength: 4,
  selector: ({ from, to, annotation, gate: by }) => JSON.stringify([from, to, annotation, by]),
});
const override: fc.Arbitrary<Override | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  fc.constantFrom("none", "order", "order").map((kind): Override => ({ kind, reason: "as an experiment" })),
);
const transport: fc.Arbitrary<Pick<Stream, "ordered" | "singleWriter" | "delivery">> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  attributes.map((ordered) => ({ ordered })),
  fc.constant({ singleWriter: true }),
  fc.constant({ delivery: "at-least-once" as const }),
);

interface Choices {
  readonly components: readonly {
    readonly paths: readonly ComponentPath[];
    readonly rep: boolean | undefined;
    readonly coordination: Override | undefined;
  }[];
  /** For each input: the stream from outside, and which outputs lead there besides. */
  readonly sources: readonly { readonly seals: readonly Seal[]; readonly transport: object }[];
  readonly links: readonly { readonly from: number; readonly to: number; readonly transport: object }[];
  readonly accepted: readonly number[];
}

export const dataflow: fc.Arbitrary<Dataflow> = fc
  .record({
    components: fc.array(
      fc.record({
        paths,
        rep: fc.option(fc.constantFrom(true, true, false), { nil: undefined }),
        coordination: override,
      }),
      { minLength: 1, maxLength: 3 },
    ),
    sources: fc.array(fc.record({ seals, transport }), { minLength: 9, maxLength: 9 }),
    links: fc.array(fc.record({ from: fc.nat(5), to: fc.nat(8), transport }), { maxLength: 4 }),
    accepted: fc.array(fc.nat(11), { maxLength: 2 }),
  })
  .map(graphOf);

function graphOf({ components, sources, links, accepted }: Choices): Dataflow {
  const made = components.map(({ paths: own, rep, coordination }, i): Component => {
    const optional = {
      ...(rep === undefined ? {} : { rep }),
      ...(coordination === undefined ? {} : { coordination }),
    };
    return { name: `C${i}`, paths: own, ...optional };
  });
  const ports = (side: "from" | "to") =>
    made.flatMap(({ name, paths: own }) =>
      [...new Set(own.map((path) => path[side]))].map((each) => ({ component: name, interface: each })),
    );
  const [inputs, outputs] = [ports("from"), ports("to")];
  const inner = links.map(({ from, to, transport: kept }, i): Stream => {
    const ends = { from: outputs[from % outputs.length] ?? null, to: inputs[to % inputs.length] ?? null };
    return { name: `inner${i}`, ...ends, seals: [], ...kept };
  });
  const outer = inputs.map((to, i): Stream => {
    const { seals: promised = [], transport: kept = {} } = sources[i % sources.length] ?? {};
    return { name: `in${i}`, from: null, to, seals: promised, attributes: [...ATTRIBUTES, "v"], ...kept };
  });
  const sinks = outputs.map((from, i): Stream => ({ name: `out${i}`, from, to: null, seals: [] }));
  const streams = [...outer, ...inner, ...sinks];
  const names = new Set(accepted.flatMap((n) => streams[n]?.name ?? []));
  return {
    components: made,
    streams,
    dependencies: [],
    accepted: [...names].map((stream) => ({ stream, reason: "as an experiment" })),
  };
}

export function codeOf({ components }: Dataflow): Map<string, RunnableComponent> {
  return new Map(
    components.map(({ name, paths: own }) => [name, honestComponent(own) as unknown as RunnableComponent]),
  );
}
