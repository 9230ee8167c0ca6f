import { EventEmitter } from "node:events";
import { ask, askItself, like, refusing, replaceTexts } from "./replaced.js";
import { MODE, watch } from "./watch.js";

const { Proxy: RealProxy } = globalThis;

/**
 * What the language brings along, in a thread that watches calls: what changes an object asks whether that is older than the call, and
 * what gives something else each time, or goes on later, is refused.
 */
export function watchLanguage(): void {
  replaceTexts();
  changesItself();
  changesArgument();
  changesMemory();
  inheritsNothing();
  time();
  later();
  errors();
}

type Asked = readonly [holder: object, names: string];

/** Methods that change what they are called on. */
function changesItself(): void {
  const all: Asked[] = [
    [Array.prototype, "push pop shift unshift splice sort reverse fill copyWithin"],
    [Map.prototype, "set delete clear"],
    [Set.prototype, "add delete clear"],
    [WeakMap.prototype, "set delete"],
    [WeakSet.prototype, "add delete"],
    [RegExp.prototype, "compile"],
    [Object.prototype, "__defineGetter__ __defineSetter__"],
    [
      Date.prototype,
      Object.getOwnPropertyNames(Date.prototype)
        .filter((name) => /^set/.test(name))
        .join(" "),
    ],
    [
      EventEmitter.prototype,
      Object.getOwnPropertyNames(EventEmitter.prototype)
        .filter((name) => !/^(_|constructor|listener|rawL|eventN|getM)/.test(name))
        .join(" "),
    ],
  ];
  for (const [holder, names] of all) for (const name of names.split(" ")) askItself(holder, name);
  const setter = Object.getOwnPropertyDescriptor(Object.prototype, "__proto__")?.set;
  const getter = Object.getOwnPropertyDescriptor(Object.prototype, "__proto__")?.get;
  if (setter === undefined || getter === undefined) return;
  Object.defineProperty(Object.prototype, "__proto__", {
    configurable: true,
    get: getter,
    set: like(function (this: unknown, to: never) {
      Reflect.apply(setter, watch.write(this), [to]);
      if (to === null && this !== null && typeof this === "object") watch.made(this);
    }, setter),
  });
}

/** Functions that change what they are given first. */
function changesArgument(): void {
  const all: Asked[] = [
    [Object, "assign defineProperty defineProperties setPrototypeOf freeze seal preventExtensions"],
    [Reflect, "set defineProperty deleteProperty setPrototypeOf preventExtensions"],
    [Error, "captureStackTrace"],
  ];
  for (const [holder, names] of all)
    for (const name of names.split(" ")) ask(holder, name, (_, [object]) => watch.write(object));
  ask(Reflect, "set", (_, args) => args.length > 3 && watch.write(args[3]));
  ask(TextEncoder.prototype, "encodeInto", (_, [, memory]) => watch.write(memory));
}

/** What writes to memory, of which there may be other views. */
function changesMemory(): void {
  Buffer.poolSize = 0; // so that memory of buffers is not shared with older ones
  const views = Object.getPrototypeOf(Uint8Array.prototype) as object;
  for (const name of ["set", "fill", "sort", "reverse", "copyWithin"])
    ask(views, name, (self) => watch.write(self));
  for (const name of Object.getOwnPropertyNames(Buffer.prototype)) {
    if (name === "copy") ask(Buffer.prototype, name, (_, [target]) => watch.write(target));
    else if (/^(write|fill|swap)|Write$|^(utf8|latin1|ascii|base64|base64url|hex|ucs2)Write/.test(name))
      ask(Buffer.prototype, name, (self) => watch.write(self));
  }
  for (const name of Object.getOwnPropertyNames(DataView.prototype))
    if (/^set/.test(name)) ask(DataView.prototype, name, (self) => watch.write(self));
}

/** V8 lists all objects but these, so they are noted down. */
function inheritsNothing(): void {
  const { create } = Object;
  const made = {
    create(of: object | null, ...more: [PropertyDescriptorMap & ThisType<unknown>]): object {
      const object = create(of, ...more) as object;
      return watch.mode !== MODE.idle ? watch.made(object) : object;
    },
  };
  Object.defineProperty(Object, "create", {
    configurable: true,
    writable: true,
    value: like(made.create as never, create as never),
  });
  for (const holder of [Object, Reflect]) {
    const { setPrototypeOf } = holder;
    const own = {
      setPrototypeOf(object: object, to: object | null): unknown {
        const is: unknown = setPrototypeOf(object, to);
        if (to === null && watch.mode !== MODE.idle) watch.made(object);
        return is;
      },
    };
    Object.defineProperty(holder, "setPrototypeOf", {
      configurable: true,
      writable: true,
      value: like(own.setPrototypeOf as never, setPrototypeOf as never),
    });
  }
}

function time(): void {
  const Real = Date;
  const Watched = function (this: unknown, ...args: []): unknown {
    if (new.target === undefined || args.length === 0) watch.deny("asks for the time");
    return new.target === undefined ? Real() : Reflect.construct(Real, args, new.target);
  };
  like(Watched as never, Real as never);
  for (const key of Reflect.ownKeys(Real)) {
    const field = Object.getOwnPropertyDescriptor(Real, key);
    if (field !== undefined && key !== "name" && key !== "length") Object.defineProperty(Watched, key, field);
  }
  ask(Watched, "now", () => watch.deny("asks for the time"));
  Object.defineProperty(Real.prototype, "constructor", {
    configurable: true,
    writable: true,
    value: Watched,
  });
  replaceGlobal("Date", Watched);
  ask(Math, "random", () => watch.deny("asks for a random number"));
  for (const name of ["format", "formatToParts", "formatRange", "formatRangeToParts"])
    ask(Intl.DateTimeFormat.prototype, name, () =>
      watch.deny("asks Intl for a date, which may be that of today"),
    );
}

/** Code that comes later, that is made, or of which nothing is seen. */
function later(): void {
  for (const name of ["then", "catch", "finally"])
    ask(Promise.prototype, name, () => watch.deny("uses a promise"));
  for (const name of Reflect.ownKeys(Promise)) {
    if (typeof name === "string" && !/^(length|name|prototype)$/.test(name))
      ask(Promise, name, () => watch.deny("uses a promise"));
  }
  for (const name of ["Promise", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Proxy"]) {
    const own = constructing(name, Reflect.get(globalThis, name) as never, "makes an object of");
    replaceGlobal(name, own);
  }
  for (const name of ["Atomics", "WebAssembly"])
    replaceGlobal(
      name,
      refusing(Reflect.get(globalThis, name) as object, name, () => false),
    );
  for (const each of [function* () {}, async () => {}, async function* () {}]) {
    const value = constructing("a function", each.constructor as never, "makes code:");
    Object.defineProperty(Object.getPrototypeOf(each), "constructor", { configurable: true, value });
  }
}

type Constructing = (new (...args: never[]) => object) & ((...args: never[]) => unknown);

/** A class of the language that is not to be called, but can be asked for what belongs to it. */
function constructing(name: string, of: Constructing, what: string): Constructing {
  const own: Constructing = new RealProxy(of, {
    apply: (target, self, args: never[]): unknown => {
      watch.deny(`${what} ${name}`);
      return Reflect.apply(target, self, args);
    },
    construct: (target, args: never[], made): object => {
      watch.deny(`${what} ${name}`);
      return Reflect.construct(target, args, made === own ? target : made) as object;
    },
  });
  const { prototype } = of as { prototype?: object };
  // `await` asks a promise for its constructor; and there is no promise to ask but for Node's own.
  if (prototype !== undefined && name !== "Promise") {
    const field = Object.getOwnPropertyDescriptor(prototype, "constructor");
    if (field?.configurable === true)
      Object.defineProperty(prototype, "constructor", { ...field, value: own });
  }
  return own;
}

function replaceGlobal(name: string, value: unknown): void {
  const field = Object.getOwnPropertyDescriptor(globalThis, name);
  const { enumerable = false } = field ?? {};
  Object.defineProperty(globalThis, name, { configurable: true, writable: true, enumerable, value });
}

/** What the last match was, and where an error comes from. */
function errors(): void {
  for (const name of Object.getOwnPropertyNames(RegExp)) {
    if (!/^(length|name|prototype)$/.test(name))
      ask(RegExp, name, () => watch.deny(`asks for RegExp.${name}`));
  }
}
