import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CompileOptions, compile, link } from "headwater/fluxion";
import { untyped } from "./modules.js";
import { trusted } from "./program/cheats.js";
import type { Program } from "./program/generate.js";
import type { Elsewhere } from "./threads.js";
import { RUNTIME, type Running, type Seen, type Timing, World } from "./world.js";

/** What a program did that its original does not do. */
export interface Difference {
  readonly how: string;
  readonly plain: unknown;
  readonly compiled: unknown;
}

export interface Compared {
  /** How many stages the compiler found, and how many calls of them ran elsewhere. */
  readonly stages: number;
  readonly moved: number;
  readonly difference: Difference | null;
}

/** Runs programs both ways, in all the orders that make no difference to the original. */
export class Comparison {
  readonly #folder: string;
  readonly #elsewhere: Elsewhere;
  readonly #options: CompileOptions;
  readonly #isTrusting: boolean;
  #programs = 0;

  /** A compiler that is `trusting` takes packages that cheat at their word. */
  constructor(folder: string, elsewhere: Elsewhere, options: CompileOptions = {}, isTrusting = false) {
    this.#folder = folder;
    this.#elsewhere = elsewhere;
    this.#options = options;
    this.#isTrusting = isTrusting;
  }

  async compare(program: Program): Promise<Compared> {
    const folder = join(this.#folder, `program-${process.pid}${this.#programs++}`);
    try {
      return await this.#compareIn(folder, program);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Requests that are under way together may be handled in any order, each of them as a whole. */
  async #isInOtherOrder(running: Omit<Running, "linked">, timing: Timing, compiled: Seen): Promise<boolean> {
    for (const requests of orders(running.requests)) {
      const plain = await observe({ ...running, requests, linked: null }, { ...timing, serial: true });
      if (differenceOf("", plain, compiled, true) === null) return true;
    }
    return false;
  }

  async #compareIn(folder: string, { files, entry, requests, ...program }: Program): Promise<Compared> {
    write(folder, files);
    const at = join(folder, entry);
    const knowledge = this.#isTrusting ? { knowledge: { libraries: trusted(files) } } : {};
    const linked = link(compile(at, { ...this.#options, ...knowledge }), { runtime: RUNTIME, trivial: true });
    const stages = linked.manifest.stages.length;
    if (stages === 0) return { stages, moved: 0, difference: null };
    write(
      join(folder, "workers"),
      Object.fromEntries(
        [...linked.workers].map(([name, { code }]) => [javascript(name), javascript(untyped(code))]),
      ),
    );
    const running = { folder, entry: at, requests, elsewhere: this.#elsewhere };
    let moved = 0;
    for (const serial of [true, false]) {
      const timing = { serial, slow: false, schedule: program.schedule };
      const plain = await observe({ ...running, linked: null }, timing);
      // Who else was answered when a program ends depends on who asked first.
      const isAnyOrder = serial ? program.isSteady : program.isSynchronous && plain.ends.length === 0;
      for (const slow of isAnyOrder ? [false, true] : [false]) {
        const compiled = await observe({ ...running, linked }, { ...timing, slow });
        moved += compiled.moved;
        const how = `${serial ? "one after the other" : "all at once"}, stages ${slow ? "late" : "at once"}`;
        const difference = differenceOf(how, plain, compiled, !serial && slow);
        if (difference === null) continue;
        const isOther = !serial && slow && (await this.#isInOtherOrder(running, timing, compiled));
        if (!isOther) return { stages, moved, difference };
      }
    }
    return { stages, moved, difference: null };
  }
}

/** Workers load files without types, and so under other names. */
function javascript(text: string): string {
  return text.replace(/\b(w\d+\.[cm])ts\b/g, "$1js");
}

/** All orders of some things. */
function orders<T>(things: readonly T[]): T[][] {
  if (things.length <= 1) return [[...things]];
  return things.flatMap((first, i) => orders(things.toSpliced(i, 1)).map((rest) => [first, ...rest]));
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function observe(running: Running, timing: Timing): Promise<Seen> {
  return new World(running, timing).run();
}

function differenceOf(how: string, plain: Seen, compiled: Seen, byRequest: boolean): Difference | null {
  const shown = ({ console, answers, ends }: Seen) => ({
    console: byRequest ? console.toSorted() : console,
    answers,
    ends,
  });
  const [one, other] = [shown(plain), shown(compiled)];
  // An error that is not caught ends a process before stages that are under way have ended.
  if (plain.ends.some((each) => each.startsWith("uncaught"))) {
    one.console = one.console.slice(0, other.console.length);
    one.answers = one.answers.map((each, i) => (other.answers[i]?.startsWith("(open)") ? "(open) " : each));
  }
  return JSON.stringify(one) === JSON.stringify(other) ? null : { how, plain: one, compiled: other };
}
