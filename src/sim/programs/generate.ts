import type { Step } from "../../model/path.js";
import type { Random } from "../../random.js";
import { BodyWriter } from "./body.js";
import { keyOf } from "./data.js";
import { drawProfile, type ProgramProfile } from "./profile.js";
import type {
  ClassSpec,
  FieldSpec,
  KeyStyle,
  MethodSpec,
  ProgramSpec,
  RequestSpec,
  SlotSpec,
} from "./program.js";

/** Draws programs and workloads from a seed. */

const STYLES: readonly KeyStyle[] = ["number", "number", "number", "text", "pair", null];

export function generateProgram(random: Random): ProgramSpec {
  const profile = drawProfile(random);
  const spec: ProgramSpec = { nodes: [], classes: [] };
  for (let node = 0; node < profile.nodes; node++) {
    spec.nodes.push({ name: `n${node}`, root: spec.classes.length });
    addTree(random, profile, spec.classes);
  }
  const writer = new BodyWriter(random, profile, spec);
  // From the last class to the first: what a call costs is known when the caller is written.
  for (let index = spec.classes.length - 1; index >= 0; index--) writer.writeMethods(index);
  return spec;
}

function addTree(random: Random, profile: ProgramProfile, classes: ClassSpec[]): void {
  const root = classes.length;
  const levels: number[] = [];
  for (let i = 0; i < profile.classesPerNode; i++) {
    const index = root + i;
    const parents = levels.flatMap((level, p) => {
      return level < profile.levels && !classes[root + p]?.anonymous ? [root + p] : [];
    });
    if (i > 0 && parents.length === 0) return;
    const anonymous = i > 0 && random.chance(profile.anonymous);
    const fields = anonymous ? [] : drawFields(random, profile);
    const name = String.fromCharCode(65 + index);
    classes.push({ name, anonymous, fields, slots: [], methods: drawMethods(random, profile) });
    if (i === 0) {
      levels.push(1);
      continue;
    }
    const parent = random.pick(parents);
    addSlot(random, profile, classes[parent], index);
    let level = levels[parent - root] ?? 1;
    if (random.chance(0.15)) {
      const another = random.pick(parents);
      addSlot(random, profile, classes[another], index);
      level = Math.max(level, levels[another - root] ?? 1);
    }
    levels.push(level + 1);
  }
}

function addSlot(random: Random, profile: ProgramProfile, parent: ClassSpec | undefined, cls: number): void {
  if (parent === undefined) return;
  const style = random.pick(STYLES);
  const slot: SlotSpec = {
    name: `s${parent.slots.length}`,
    cls,
    style,
    keys: style === null ? 1 : profile.keys,
  };
  parent.slots.push(slot);
}

const KINDS = ["number", "list", "map", "set", "record", "tlist", "tmap", "tmap", "tset"] as const;

function drawFields(random: Random, profile: ProgramProfile): FieldSpec[] {
  const fields: FieldSpec[] = [{ name: "f0", kind: "number" }];
  const more = random.int(3);
  for (let i = 1; i <= more; i++) fields.push({ name: `f${i}`, kind: random.pick(KINDS) });
  if (profile.timers) fields.push({ name: "timer", kind: "timer" });
  return fields;
}

/** Methods without their bodies, which are written when all classes are known. */
function drawMethods(random: Random, profile: ProgramProfile): MethodSpec[] {
  const methods: MethodSpec[] = [];
  const count = 2 + random.int(3);
  for (let i = 0; i < count; i++) {
    methods.push({
      name: `m${i}`,
      readonly: i > 0 && random.chance(profile.readonly),
      reads: [],
      async: random.chance(0.3),
      returns: null,
      body: [],
    });
  }
  return methods;
}

/** How much fuel a request gets: how many generations of later events it may have. */
const FUEL = [0, 0, 0, 1, 1, 2];

export function generateWorkload(random: Random, spec: ProgramSpec, events: number): RequestSpec[] {
  const requests: RequestSpec[] = [];
  const hot = random.pick([0, 0, 0.5, 0.9]);
  const dependent = random.pick([0, 0.2, 0.6]);
  const fuel = random.pick([0, 1, 1, 2]);
  const descend = random.pick([0.1, 0.4, 0.7]);
  const favourite = drawTarget(random, spec, descend);
  let at = 0;
  for (let index = 0; index < events; index++) {
    const { node, path, cls } = random.chance(hot) ? favourite : drawTarget(random, spec, descend);
    at += random.chance(0.5) ? 0 : random.int(4);
    requests.push({
      node,
      path,
      method: random.pick(cls.methods).name,
      args: [random.int(10), random.int(10), Math.min(fuel, random.pick(FUEL))],
      client: random.chance(0.3) ? `c${random.int(3)}` : null,
      after: index > 0 && random.chance(dependent) ? random.int(index) : null,
      at,
    });
  }
  return requests;
}

/** A context, found by going down from a root again and again with this probability. */
function drawTarget(
  random: Random,
  spec: ProgramSpec,
  descend: number,
): { node: string; path: Step[]; cls: ClassSpec } {
  const { name, root } = random.pick(spec.nodes);
  const path: Step[] = [];
  let cls = spec.classes[root] as ClassSpec;
  while (cls.slots.length > 0 && random.chance(descend)) {
    const slot = random.pick(cls.slots);
    const key = keyOf(slot.style, random.int(slot.keys));
    path.push(key === undefined ? { field: slot.name } : { field: slot.name, key });
    cls = spec.classes[slot.cls] as ClassSpec;
  }
  return { node: name, path, cls };
}
