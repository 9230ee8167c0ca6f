import { HeadwaterError } from "../errors.js";

/** What components receive and send: plain data. */
export type Data = Readonly<Record<string, unknown>>;

/** An instance of a component. */
export interface Instance {
  /** Takes one record, or as many equal ones as `times` says, and returns what it sends on, by output. */
  receive(input: string, record: Data, times: number): readonly Sent[];
  /** Called when nothing more comes. */
  finish?(): readonly Sent[];
}

export interface Sent {
  readonly to: string;
  readonly record: Data;
}

/** Equal records that come over one input. */
export interface Block {
  readonly input: string;
  readonly record: Data;
  readonly times: number;
}

/** Where chance comes from: the same seed gives the same numbers. */
export interface Chance {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
}

/** A component that can be run. What a module exports as its default for `headwater analyze --check`. */
export interface CheckedComponent {
  start(): Instance;
  /** Some input that it might get, in no particular order. */
  records(chance: Chance): readonly Block[];
}

/** Looks at what a module exports, and refuses it with HW-5006 if it is no component. */
export function checkedComponent(exported: unknown, module: string): CheckedComponent {
  const component = exported as Partial<CheckedComponent> | null | undefined;
  if (typeof component?.start === "function" && typeof component.records === "function") {
    return component as CheckedComponent;
  }
  throw new HeadwaterError(
    "HW-5006",
    `The default export of ${module} cannot be run as a component: it needs the functions start() and records(chance).`,
  );
}
