import { createHash, createHmac } from "node:crypto";
import { EventEmitter } from "node:events";
import { Session } from "node:inspector";
import { StringDecoder } from "node:string_decoder";
import { parse } from "node:url";
import { types } from "node:util";
import { watch } from "./watch.js";

/** Which objects are there before a call? V8 lists them for debuggers. */

/**
 * Objects of Node and of the language that packages can make while they are loaded, and that change where no guard sees it: what these
 * inherit of.
 */
function changingUnseen(): Set<object> {
  const iterators = [
    [].values(),
    new Map().keys(),
    new Set().keys(),
    ""[Symbol.iterator](),
    "".matchAll(/a/g),
  ];
  const classes = [EventEmitter, URL, URLSearchParams, StringDecoder, TextDecoder];
  return new Set<object>([
    ...classes.map(({ prototype }) => prototype as object),
    ...[createHash("md5"), createHmac("md5", ""), parse(""), ...iterators].map(
      (each) => Object.getPrototypeOf(each) as object,
    ),
    Object.getPrototypeOf(new URLSearchParams().keys()) as object,
    Object.getPrototypeOf(new Intl.Segmenter().segment("")[Symbol.iterator]()) as object,
    Object.getPrototypeOf(Object.getPrototypeOf([].values())) as object,
  ]);
}

const session = new Session();

/** All objects of this thread, but for objects that inherit nothing. */
function allObjects(): readonly object[] {
  session.connect();
  let found: readonly object[] | null = null;
  const value = (of: readonly object[]) => {
    found = of;
  };
  Object.defineProperty(globalThis, "$hwFound", { configurable: true, value });
  try {
    session.post("Runtime.evaluate", { expression: "Object.prototype" }, (_, evaluated) => {
      const prototypeObjectId = evaluated?.result.objectId ?? "";
      session.post("Runtime.queryObjects", { prototypeObjectId }, (_, queried) => {
        const objectId = queried?.objects.objectId ?? "";
        session.post("Runtime.callFunctionOn", {
          objectId,
          functionDeclaration: "function () { $hwFound(this); }",
        });
      });
    });
  } finally {
    session.disconnect();
    Reflect.deleteProperty(globalThis, "$hwFound");
  }
  if (found === null) throw new Error("V8 does not list its objects");
  return found;
}

/** What a thread has before it loads packages, and what they add. */
export class Older {
  readonly #before = new WeakSet<object>();
  readonly #unseen = changingUnseen();
  #remembering: { readonly expression: RegExp; index: number }[] = [];

  constructor() {
    for (const each of allObjects()) this.#before.add(each);
  }

  /** From now on, what is there is old. Throws an error that says what cannot be watched. */
  look(): void {
    const all = allObjects();
    this.#remembering = [];
    for (const object of all) {
      watch.old.add(object);
      if (ArrayBuffer.isView(object)) watch.old.add(object.buffer);
      if (this.#before.has(object)) continue;
      this.#check(object);
      if (types.isRegExp(object)) this.#remembering.push({ expression: object, index: object.lastIndex });
    }
  }

  /** Whether an expression remembers something else than before. */
  changedExpression(): RegExp | null {
    for (const each of this.#remembering) {
      const { expression, index } = each;
      if (expression.lastIndex === index) continue;
      each.index = expression.lastIndex;
      return expression;
    }
    return null;
  }

  #check(object: object): void {
    if (types.isGeneratorObject(object)) throw new Error("a package keeps a generator, which changes unseen");
    if (typeof object === "function" || isPrototype(object)) return;
    for (let at = Object.getPrototypeOf(object) as object | null; at !== null; at = Object.getPrototypeOf(at))
      if (this.#unseen.has(at))
        throw new Error(`a package keeps an object of ${nameOf(object)}, which changes unseen`);
  }
}

/** What instances of a class inherit of is none itself. */
function isPrototype(object: object): boolean {
  const made = Object.getOwnPropertyDescriptor(object, "constructor")?.value as unknown;
  return typeof made === "function" && made.prototype === object;
}

function nameOf(object: object): string {
  const tag = Object.prototype.toString.call(object).slice(8, -1);
  const { constructor: made } = object as { constructor?: { name?: unknown } };
  return tag !== "Object" ? tag : String(made?.name);
}
