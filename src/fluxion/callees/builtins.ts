/** What is known of the language's own functions and methods, as data. */

/** Global functions without effects that give a primitive value or a new object that shares nothing. */
export const PURE_GLOBALS: ReadonlySet<string> = new Set([
  ..."parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI".split(
    " ",
  ),
  ..."String Number Boolean BigInt Symbol atob btoa structuredClone escape unescape Date".split(" "),
]);

/** Namespaces of which every function is such. */
export const PURE_NAMESPACES: ReadonlySet<string> = new Set([
  ..."Math JSON Number String Date BigInt Intl Symbol Buffer URL".split(" "),
]);

/** Functions of `Object`, `Array` and others whose result has in it what they are given. */
export const PASSING: ReadonlySet<string> = new Set([
  ..."Object.keys Object.values Object.entries Object.fromEntries Object.getOwnPropertyNames".split(" "),
  ..."Object.hasOwn Object.is Object.create Object.getPrototypeOf Object.isFrozen Object.groupBy".split(" "),
  ..."Array.isArray Array.from Array.of Promise.all Promise.resolve Promise.reject Promise.race".split(" "),
  ..."Promise.allSettled Promise.any Reflect.ownKeys Reflect.get Reflect.has Map.groupBy Object".split(" "),
  ..."ArrayBuffer.isView Uint8Array.from Uint8Array.of Float64Array.from Error.isError Array".split(" "),
]);

/** Those of them that give what they are given, or something in it, as it is. */
export const SAME: ReadonlySet<string> = new Set([
  ..."Object Object.getPrototypeOf Reflect.get Promise.resolve Promise.race Promise.any".split(" "),
]);

/** Those of them, and classes, that take pairs apart. */
export const OF_PAIRS: ReadonlySet<string> = new Set(["Map", "WeakMap", "Object.fromEntries"]);

/** What is made of memory that is there already, if that is what it is given. */
export const OF_MEMORY =
  /^(DataView|Buffer\.from|(Uint8|Uint8Clamped|Int8|Uint16|Int16|Uint32|Int32|Float32|Float64|BigInt64|BigUint64)Array)$/;

/** Functions that change their first argument. */
export const CHANGING: ReadonlySet<string> = new Set([
  ..."Object.assign Object.defineProperty Object.defineProperties Object.freeze Object.seal".split(" "),
  ..."Object.setPrototypeOf Object.preventExtensions Reflect.set Reflect.deleteProperty".split(" "),
]);

/** Functions that are told what is behind a property, which may be functions that run when it is used. */
export const DESCRIBING: ReadonlySet<string> = new Set([
  ..."Object.defineProperty Object.defineProperties Object.create".split(" "),
]);

/** What `new` makes without effects. */
export const CLASSES: ReadonlySet<string> = new Set([
  ..."Object Array Map Set WeakMap WeakSet Date RegExp Error TypeError RangeError SyntaxError".split(" "),
  ..."ReferenceError EvalError URIError AggregateError URL URLSearchParams TextEncoder TextDecoder".split(
    " ",
  ),
  ..."ArrayBuffer DataView Uint8Array Uint8ClampedArray Int8Array Uint16Array Int16Array".split(" "),
  ..."Uint32Array Int32Array Float32Array Float64Array BigInt64Array BigUint64Array Boolean Number".split(
    " ",
  ),
  ..."String Intl.NumberFormat Intl.DateTimeFormat Intl.Collator Intl.PluralRules Intl.ListFormat".split(" "),
  ..."Intl.RelativeTimeFormat Intl.Segmenter Intl.DisplayNames".split(" "),
]);

/** Names that mean values, not functions. */
export const VALUES: ReadonlySet<string> = new Set(["undefined", "NaN", "Infinity"]);

/** Methods whose result is a primitive value (or has only such in it), whatever they are called on. */
export const TELLING: ReadonlySet<string> = new Set([
  ..."toString toLocaleString valueOf trim trimStart trimEnd split join includes indexOf lastIndexOf".split(
    " ",
  ),
  ..."startsWith endsWith charAt charCodeAt codePointAt padStart padEnd repeat replace replaceAll".split(" "),
  ..."toUpperCase toLowerCase toLocaleUpperCase toLocaleLowerCase normalize localeCompare substring".split(
    " ",
  ),
  ..."substr search toFixed toPrecision toExponential has hasOwnProperty isPrototypeOf getTime".split(" "),
  ..."getFullYear getMonth getDate getDay getHours getMinutes getSeconds getMilliseconds".split(" "),
  ..."getTimezoneOffset getUTCFullYear getUTCMonth getUTCDate getUTCDay getUTCHours getUTCMinutes".split(" "),
  ..."getUTCSeconds getUTCMilliseconds toISOString toJSON toDateString toTimeString toUTCString".split(" "),
  ..."toLocaleDateString toLocaleTimeString equals compare readUInt8 readUInt16BE readUInt16LE".split(" "),
  ..."readUInt32BE readUInt32LE readInt8 readInt16BE readInt16LE readInt32BE readInt32LE".split(" "),
  ..."readDoubleBE readDoubleLE readFloatBE readFloatLE encode decode format formatToParts".split(" "),
  ..."isWellFormed toWellFormed propertyIsEnumerable anchor getAll".split(" "),
]);

/** Methods that change nothing, and whose result is a new collection with what was in it. */
export const COPYING: ReadonlySet<string> = new Set([
  ..."filter slice concat flat toSorted toReversed toSpliced with entries keys values".split(" "),
  ..."matchAll match subarray union intersection difference symmetricDifference".split(" "),
]);

/** Those of them whose result is used up by going through it. */
export const ITERATING: ReadonlySet<string> = new Set(["entries", "keys", "values", "matchAll"]);

/** Properties of the language's own objects that are another view of the same memory. */
export const VIEWS: ReadonlySet<string> = new Set(["buffer", "parent", "searchParams"]);

/** Methods that change nothing, and give one of the things in it, or what a callback returned. */
export const PICKING: ReadonlySet<string> = new Set([
  ..."find findLast findIndex findLastIndex at get reduce reduceRight some every forEach then".split(" "),
  ..."catch finally isSubsetOf isSupersetOf isDisjointFrom".split(" "),
]);

/** Methods that change nothing, and whose result has in it only what a callback returned. */
export const MAPPING: ReadonlySet<string> = new Set(["map", "flatMap"]);

/** Methods that change what they are called on. */
export const MUTATING: ReadonlySet<string> = new Set([
  ..."next push pop shift unshift splice sort reverse fill copyWithin set add delete clear append".split(" "),
  ..."write writeUInt8 writeUInt16BE writeUInt16LE writeUInt32BE writeUInt32LE writeInt8".split(" "),
  ..."writeInt16BE writeInt16LE writeInt32BE writeInt32LE writeDoubleBE writeDoubleLE copy".split(" "),
  ..."writeFloatBE writeFloatLE swap16 swap32 setFullYear setMonth setDate setHours setMinutes".split(" "),
  ..."setSeconds setMilliseconds setTime setUTCFullYear setUTCMonth setUTCDate setUTCHours".split(" "),
  ..."setUTCMinutes setUTCSeconds setUint8 setUint16 setUint32 setInt8 setInt16 setInt32".split(" "),
  ..."setFloat32 setFloat64 setBigInt64 setBigUint64".split(" "),
]);

/** Methods of regular expressions; with the flags `g` or `y` they leave a mark in it. */
export const MATCHING: ReadonlySet<string> = new Set(["test", "exec"]);

export const TIMERS: ReadonlySet<string> = new Set([
  ..."setTimeout setImmediate setInterval queueMicrotask process.nextTick".split(" "),
]);

/** Functions that give something else each time, so that two threads do not agree. */
export const VARYING: ReadonlySet<string> = new Set([
  "Date.now",
  "Math.random",
  "Date",
  "Symbol",
  "process.hrtime",
]);

/** What any match anywhere leaves behind: the last one of a thread. */
export const LAST_MATCH =
  /^RegExp\.(\$[1-9_&+`']|input|lastMatch|lastParen|leftContext|rightContext|\u2026)$/;

/** Methods whose result depends on the time zone of the thread; what of `Date` and `Intl` does not. */
export const LOCAL_TIME: ReadonlySet<string> = new Set([
  ..."getFullYear getYear getMonth getDate getDay getHours getMinutes getSeconds getTimezoneOffset".split(
    " ",
  ),
  ..."toDateString toTimeString toLocaleString toLocaleDateString toLocaleTimeString".split(" "),
  ..."setFullYear setMonth setDate setHours setMinutes setSeconds format formatToParts".split(" "),
  ..."formatRange formatRangeToParts resolvedOptions".split(" "),
]);
export const ANY_ZONE: ReadonlySet<string> = new Set("now UTC Collator PluralRules Segmenter".split(" "));

/** What of `process` is the same in every thread. */
export const PROCESS_CONSTANTS: ReadonlySet<string> = new Set([
  ..."version versions platform arch hrtime".split(" "),
]);
