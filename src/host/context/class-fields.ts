import { initialState } from "../../state/fields.js";
import { ownedVersion } from "../../state/tracked-content.js";
import { plainOf, unlike } from "../../state/tracked-fields.js";
import { Version } from "../../state/tracked-version.js";
import { copyKept, copyToKeep } from "../../state/values.js";
import { type Versioned, versionOf } from "./class-versions.js";
import type { Slot } from "./slot.js";
import type { Main } from "./stored-form.js";

/** What was written for the fields of a class, as the fields that it has now. */

/** The values in the order of the class's fields. Fields that were added since begin with their initial values. */
export function valuesByName(slot: Slot, names: readonly string[], values: unknown[]): unknown[] {
  const { fields } = slot.shape;
  if (names.length === fields.length && fields.every((field, i) => field === names[i])) return values;
  for (const name of names) {
    if (!fields.includes(name)) throw unlike(slot, `it has a field "${name}" that the class has not`);
  }
  const isComplete = fields.every((field) => names.includes(field));
  const initial = isComplete ? [] : initialState(slot);
  return fields.map((field, i) => {
    const index = names.indexOf(field);
    return index < 0 ? initial[i] : values[index];
  });
}

/** Stands for what an owned engine has left, for \`upgrade\` to pass on: its records say nothing without the engine. */
class EngineLeft {
  constructor(readonly version: Version) {}
}

/** What \`upgrade\` of the class makes of the fields of an older version. */
export function upgraded(slot: Slot, { version, names, values }: Main): unknown[] {
  const { cls, name } = slot.shape;
  const present = versionOf(cls);
  if (version > present) {
    throw unlike(slot, `it was written by version ${version} of the class, and this is version ${present}`);
  }
  const fields: Record<string, unknown> = {};
  for (const [i, field] of names.entries()) {
    const value = values[i];
    fields[field] = value instanceof Version ? givenToUpgrade(value) : value;
  }
  if ((cls as Versioned).upgrade === undefined)
    throw unlike(slot, `it is of version ${version}, the class of ${present}`);
  const made = (cls as Versioned).upgrade?.(fields, version);
  if (typeof made !== "object" || made === null || made instanceof Promise)
    throw unlike(slot, `\`${name}.upgrade\` returned no object of fields`);
  const byName: Record<string, unknown> = Object.fromEntries(newEngines(slot));
  for (const [field, value] of Object.entries(made) as [string, unknown][]) {
    byName[field] =
      value instanceof EngineLeft ? value.version : copyToKeep(value, () => `${name}.upgrade(…).${field}`);
  }
  for (const field of slot.shape.fields) {
    if (!Object.hasOwn(byName, field)) throw unlike(slot, `\`${name}.upgrade\` returned no field "${field}"`);
  }
  return valuesByName(slot, Object.keys(byName), Object.values(byName));
}

function givenToUpgrade(version: Version): unknown {
  return version.kind === "owned" ? Object.freeze(new EngineLeft(version)) : copyKept(plainOf(version));
}

/** Engines that an upgrade says nothing of begin anew: it could not make one. */
function newEngines({ shape: { fields, kinds } }: Slot): [string, Version][] {
  return fields.filter((_, i) => kinds[i] === "owned").map((field) => [field, ownedVersion([])]);
}
