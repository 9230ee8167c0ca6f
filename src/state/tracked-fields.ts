import { HeadwaterError } from "../errors.js";
import type { Address } from "../model/address.js";
import { provideCollections, type Tracked, type TrackedKind } from "../model/collections.js";
import { LiveOwned } from "./owned-live.js";
import { isSameContent, versionOf } from "./tracked-content.js";
import { LiveList } from "./tracked-list.js";
import { Live } from "./tracked-live.js";
import { LiveMap, LiveSet } from "./tracked-map.js";
import { Version } from "./tracked-version.js";

/** Tracked collections as fields of contexts: a state holds a version, an instance a live collection. */

provideCollections({
  map: (entries) => new LiveMap(entries),
  set: (items) => new LiveSet(items),
  list: (items) => new LiveList(items),
  owned: (make, checkpointBytes) => new LiveOwned(make, checkpointBytes),
});

function make(kind: TrackedKind): Live {
  if (kind === "owned") return new LiveOwned(null, Number.POSITIVE_INFINITY);
  if (kind === "list") return new LiveList([]);
  return kind === "map" ? new LiveMap([]) : new LiveSet([]);
}

/** The version that a field starts with. */
export function firstVersion(live: Live, instance: object, address: Address, field: string): Version {
  if (!live.isFree) throw replaced(address, field, "it holds the collection of another field");
  const version = live.freeze();
  live.attach(version, instance, address, field);
  return version;
}

/** What an instance's field is to hold: the collection that its initialiser made, now over this version. */
export function attached(
  made: unknown,
  version: Version,
  instance: object,
  address: Address,
  field: string,
): Tracked {
  const live = made instanceof Live && made.isFree && made.kind === version.kind ? made : make(version.kind);
  live.attach(version, instance, address, field);
  return live;
}

/** Does an instance's field hold exactly this version? */
export function isStill(live: Live, kept: unknown, instance: object, field: string): boolean {
  return live.isOf(instance, field) && live.version === kept;
}

/** The version that a field holds now; `kept` itself if that is the same. */
export function versionNow(
  live: Live,
  kept: unknown,
  instance: object,
  address: Address,
  field: string,
): Version {
  if (!(kept instanceof Version) || !live.isOf(instance, field))
    throw replaced(address, field, "it holds the collection of another field");
  const version = live.freeze();
  // What an event looked at half way through a method is a version in between.
  return version.baseId === kept.id || !isSameContent(kept, version) ? version : kept;
}

/** A version to look at. */
export function shown(version: Version, address: Address, field: string): Tracked {
  return make(version.kind).show(version, address, field);
}

/** All that a version holds, as a Map, a Set or an array. */
export function plainOf(version: Version): unknown {
  return make(version.kind).plainOf(version);
}

/** What was written for a field, as its class declares it now: a plain Map may have become a tracked one, or back. */
export function fitted(value: unknown, declared: unknown, address: Address, field: string): unknown {
  if (value instanceof Version) {
    if (declared instanceof Live && declared.kind === value.kind) return value;
    if (value.kind === "owned") throw unlike(address, `its field "${field}" is what an engine has left`);
    return fitted(plainOf(value), declared, address, field);
  }
  if (!(declared instanceof Live)) return value;
  const { kind } = declared;
  if (kind === "owned") throw unlike(address, `its field "${field}" is not what an engine has left`);
  const fits = kind === "list" ? Array.isArray(value) : value instanceof (kind === "map" ? Map : Set);
  if (!fits) throw unlike(address, `its field "${field}" is not what a tracked ${kind} can be made of`);
  return versionOf(kind, value as Iterable<unknown>);
}

export function unlike(address: Address, how: string): HeadwaterError {
  const { name } = address.shape;
  return new HeadwaterError(
    "HW-3021",
    `the state of ${address} in the journal does not fit the class ${name}: ${how}. Give ${name} a higher ` +
      "`static version` and a `static upgrade(fields, version)` that makes the new fields from the old ones.",
  );
}

export function replaced(address: Address, field: string, how: string): HeadwaterError {
  const remedy = `change what it holds (\`this.${field}.clear()\`, then fill it), or declare a plain Map, Set or array`;
  return new HeadwaterError(
    "HW-1101",
    `${address}.${field} is declared as a tracked collection or an owned engine, but ${how}. Such a field keeps what it was ` +
      `declared with: ${remedy}; an engine is changed by the records that it applies.`,
  );
}
