import type { Door, Refusal } from "../model/door.js";

const SHOWN_MAX = 100;

/**
 * Text from outside as it may stand in a message or a log: quoted, short, and without anything that begins a new
 * line or moves a cursor.
 */
export function shown(text: string): string {
  const cut = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
  return JSON.stringify(cut).replace(
    /[^\x20-\x7e…]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A path without what follows it: people put secrets there, although nothing here reads them. */
export function shownPath(url: string | undefined): string {
  return shown((url ?? "").split(/[?#]/, 1)[0] ?? "");
}

/** What a server refuses: one line each for the log, and a fact for observers of the program, once there is one. */
export class Refusals {
  #door: Door | null = null;

  constructor(readonly log: (line: string) => void) {}

  /** Observers of this program hear of them from now on. */
  tell(door: Door): void {
    this.#door = door;
  }

  note(line: string, { from = null, target = null, ...rest }: Noted): void {
    this.log(`${line}: ${rest.code}`);
    this.#door?.refused({ ...rest, from, target });
  }
}

/** Unknown fields may be left out. */
type Noted = Pick<Refusal, "what" | "code"> & {
  readonly from?: string | null | undefined;
  readonly target?: string | null;
};
