import type { Fluxion } from "./fluxion.js";

export type Values = Record<string, unknown>;

/**
 * The memories of fluxions. Those of one group share the variables that they have in common; the first one has
 * main's own variable, which functions of main use as well.
 */
export function contextsOf(fluxions: readonly Fluxion[], main: Values): Map<string, Values> {
  const shared = new Map<string, Values>();
  const owners = new Map<string, Values>();
  const contexts = new Map<string, Values>();
  for (const { name, groups, context } of fluxions) {
    const own: Values = {};
    const memory: Values = {};
    for (const variable of context) {
      if (!(variable in main)) continue;
      const group = groupOf(variable, groups);
      const store = group === undefined ? own : (shared.get(group) ?? {});
      if (group !== undefined) shared.set(group, store);
      const owner = owners.get(variable) ?? store;
      owners.set(variable, owner);
      if (!(variable in store)) define(store, variable, owner === store ? main : { ...main });
      define(memory, variable, store);
    }
    contexts.set(name, memory);
  }
  return contexts;
}

/** A group is called after its variable; if several variables have the name, the others are numbered. */
function groupOf(variable: string, groups: readonly string[]): string | undefined {
  const name = `grp_${variable}`;
  const isNumbered = (group: string) =>
    group.startsWith(`${name}_`) && /^\d+$/.test(group.slice(name.length + 1));
  return groups.find((each) => each === name) ?? groups.find(isNumbered);
}

function define(store: Values, name: string, behind: Values): void {
  Object.defineProperty(store, name, {
    enumerable: true,
    configurable: true,
    get: () => behind[name],
    set: (value) => {
      behind[name] = value;
    },
  });
}
