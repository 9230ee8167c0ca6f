import type { ClassSpec, ProgramSpec, SlotSpec } from "./program.js";

/** A class that can be reached from another one, or from a root, and how. */
export interface Reachable {
  readonly cls: ClassSpec;
  readonly slots: readonly SlotSpec[];
}

/** Everything below a class, on every way. */
export function reachableFrom(
  spec: ProgramSpec,
  cls: ClassSpec,
  slots: readonly SlotSpec[] = [],
): Reachable[] {
  return cls.slots.flatMap((slot) => {
    const child = spec.classes[slot.cls] as ClassSpec;
    const path = [...slots, slot];
    return [{ cls: child, slots: path }, ...reachableFrom(spec, child, path)];
  });
}

/** Per class, the classes that are above it on every way from the root. */
export function classesAbove({ classes }: ProgramSpec): number[][] {
  const above = classes.map((): Set<number> | null => null);
  for (const [parent, { slots }] of classes.entries()) {
    const way = new Set([...(above[parent] ?? []), parent]);
    for (const { cls } of slots) {
      const known = above[cls];
      above[cls] = known == null ? way : new Set([...known].filter((one) => way.has(one)));
    }
  }
  return above.map((set) => [...(set ?? [])]);
}

/** The classes that have children of this one. */
export function parentsOf(spec: ProgramSpec, index: number): ClassSpec[] {
  return spec.classes.filter(({ slots }) => slots.some(({ cls }) => cls === index));
}

/** The logical node whose tree has this class. */
export function nodeOf(spec: ProgramSpec, index: number): number {
  return spec.nodes.findLastIndex(({ root }) => root <= index);
}
