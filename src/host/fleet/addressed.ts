import { HeadwaterError } from "../../errors.js";
import { type AddressText, addressIn, showAddress } from "../../model/address-text.js";
import { type ContextClass, NeedsKey } from "../../model/context.js";
import type { Key } from "../../model/key.js";
import { resolvePath } from "../../model/path.js";
import { Reference } from "../../model/refs.js";
import { inspectTree, type Shape, shapeOf } from "../../model/shape.js";
import { Slot } from "../context/index.js";

/** The root classes of a program, by the names of their logical nodes. */
export type Roots = Readonly<Record<string, ContextClass>>;

/**
 * The addresses of a program, as programs and people write them: the name of the logical node in front, then the way down,
 * `Game.buildings(1).hallway`. A program that was run from one root class has one logical node, with the name of that class.
 */
export class Addressed {
  readonly #roots: Roots;

  constructor(roots: Roots) {
    this.#roots = roots;
  }

  /** An address in which `*` may stand for any key, in the one way of writing it; refused if no context can have it. */
  pattern(text: unknown, rule: string): string {
    return showAddress(this.#read(text, `${rule}: `));
  }

  /** The context at an address, among contexts below these roots. */
  slot(text: string, slots: ReadonlyMap<string, Slot>): Slot {
    const address = this.#read(text);
    const root = slots.get(address.root);
    if (root === undefined) throw this.#nowhere(text, "");
    if (address.path.some(({ isAny }) => isAny))
      throw this.#nowhere(text, "`*` stands for several contexts; name one");
    return resolvePath(root, address.path);
  }

  /** The context behind a reference of that program. */
  behind(reference: unknown, slots: ReadonlyMap<string, Slot>): Slot {
    const address = reference instanceof Reference ? Reference.addressOf(reference) : null;
    if (address instanceof Slot && slots.get(address.node) === rootOf(address)) return address;
    throw this.#nowhere(reference, "");
  }

  /** Refuses a class that no context of the program has. Below a class that needs a key, any may be. */
  mustHave(cls: ContextClass, rule: string): void {
    const seen = new Map<ContextClass, Shape | null>();
    for (const root of Object.values(this.#roots)) inspectTree(root, seen);
    if (seen.has(cls) || [...seen.values()].includes(null)) return;
    const known = [...seen.keys()].map(({ name }) => name).join(", ");
    throw misplaced(`${rule} names ${cls.name}, and no context of this program is one. There are ${known}.`);
  }

  #read(text: unknown, rule = ""): AddressText {
    const address = typeof text === "string" ? addressIn(text) : null;
    if (address === null) throw this.#nowhere(text, "", rule);
    const root = Object.hasOwn(this.#roots, address.root) ? this.#roots[address.root] : undefined;
    if (root === undefined) throw this.#nowhere(text, `there is no ${address.root || "name in front"}`, rule);
    this.#follow(root, address, text, rule);
    return address;
  }

  /** Is there a way down? What is below a class that needs a key is not known before there is one. */
  #follow(root: ContextClass, { root: name, path }: AddressText, text: unknown, rule: string): void {
    let [cls, key, at]: [ContextClass, Key | undefined, string] = [root, undefined, name];
    for (const { field, key: next, isAny = false } of path) {
      const shape = shapeOrNull(cls, key);
      if (shape === null) return;
      const slot = shape.slots.find((each) => each.field === field);
      const isSingle = next === undefined && !isAny;
      if (slot === undefined || slot.single !== isSingle) {
        const below = shape.slots.map((each) => (each.single ? each.field : `${each.field}(…)`));
        throw this.#nowhere(text, `below ${at} there is ${below.join(", ") || "nothing"}`, rule);
      }
      [cls, key, at] = [slot.cls, next, `${at}.${field}${isSingle ? "" : "(…)"}`];
    }
  }

  #nowhere(what: unknown, why: string, rule = ""): HeadwaterError {
    const shown = typeof what === "string" ? JSON.stringify(what) : String(what);
    const names = Object.keys(this.#roots).join(", ");
    return misplaced(
      `${rule}${shown} is no context of this program${why === "" ? "" : `: ${why}`}. An address is the name of a logical node ` +
        `(${names}) and the way down from there, as in "Hotel.rooms(1)". A reference of this service, ` +
        "`service.root.rooms(1)`, does as well.",
    );
  }
}

/** The shape of a class, if it can be known. */
function shapeOrNull(cls: ContextClass, key: Key | undefined): Shape | null {
  try {
    return shapeOf(cls, key);
  } catch (error) {
    if (error instanceof NeedsKey) return null;
    throw error;
  }
}

export function misplaced(what: string, cause?: unknown): HeadwaterError {
  return new HeadwaterError("HW-6013", what, cause === undefined ? undefined : { cause });
}

function rootOf(slot: Slot): Slot {
  return slot.parent === null ? slot : rootOf(slot.parent);
}
