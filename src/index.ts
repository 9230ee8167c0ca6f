export { AnonymousContext, Context, type ContextClass } from "./model/context.js";
export type { CurrentEvent, TimerId } from "./model/event.js";
export type { Key } from "./model/key.js";
export { readonly, reads } from "./model/marks.js";
export type { Children, Elsewhere, Later, Ref, Target, View } from "./model/refs.js";
export { type Code, HeadwaterError } from "./errors.js";
