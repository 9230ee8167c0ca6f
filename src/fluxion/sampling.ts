import { type Profiler, type Runtime, Session } from "node:inspector";
import { findSourceMap, type SourceMapping } from "node:module";
import { fileURLToPath } from "node:url";
import type { SampledTime, TimeAt } from "./profile.js";

/**
 * Where the main loop of a running program spends its time, by looking at it a thousand times a second: for each chain of functions of the
 * program that are under way, how long that was, and in which package it ended. The time in which files are loaded is left out.
 */

const EVERY_US = 1000;
/** More chains than a program has; those beyond are known by their first function only. */
const CHAINS_MAX = 2000;
const MICROSECONDS = 1000;

type Frame = Runtime.CallFrame;

export class Sampling {
  readonly #session = new Session();
  readonly #chains = new Map<string, TimeAt>();
  readonly #places = new Map<string, string | null>();
  #totalMs = 0;

  start(): void {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.setSamplingInterval", { interval: EVERY_US });
    this.#session.post("Profiler.start");
  }

  /** All that was seen so far; goes on looking. */
  sofar(): SampledTime {
    this.#session.post("Profiler.stop", (error, result) => {
      if (error === null) this.#add(result.profile);
    });
    this.#session.post("Profiler.start");
    return { totalMs: this.#totalMs, chains: [...this.#chains.values()] };
  }

  #add({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): void {
    const took = new Map<number, number>();
    for (const [i, id] of samples.entries()) took.set(id, (took.get(id) ?? 0) + (timeDeltas[i] ?? 0));
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((each) => [each, id])));
    for (const [id, us] of took) {
      const frames: Frame[] = [];
      for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
        const frame = byId.get(at)?.callFrame;
        if (frame !== undefined) frames.unshift(frame);
      }
      if (!frames.some(isNoWork)) this.#count(frames, us / MICROSECONDS);
    }
  }

  #count(frames: readonly Frame[], ms: number): void {
    this.#totalMs += ms;
    const own = frames.map((frame) => this.#placeOf(frame));
    const last = own.findLastIndex((place) => place !== null);
    const all = own.filter((place) => place !== null);
    const below = frames.slice(last + 1).map(({ url }) => packageOf(url));
    const within = below.find((name) => name !== null) ?? null;
    const functions = this.#chains.size < CHAINS_MAX ? all : all.slice(0, 1);
    const key = `${functions.join("\n")}\n${within}`;
    const before = this.#chains.get(key);
    this.#chains.set(key, { functions, within, ms: (before?.ms ?? 0) + ms });
  }

  /** Where a function of the program begins, as its author wrote it: `file:line:column`, counted from 1. */
  #placeOf(frame: Frame): string | null {
    const { url, lineNumber, columnNumber } = frame;
    const key = `${url}:${lineNumber}:${columnNumber}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const found = isOfProgram(url) ? placeIn(url, lineNumber, columnNumber) : null;
    this.#places.set(key, found);
    return found;
  }
}

/** Nothing to do, or files are being loaded, which no request waits for. */
function isNoWork({ functionName, url }: Frame): boolean {
  return /^\((?:idle|program)\)$/.test(functionName) || url.startsWith("node:internal/modules/");
}

const OWN = new URL("..", import.meta.url).href;

function isOfProgram(url: string): boolean {
  return /^(?:file:|\/|[A-Za-z]:\\)/.test(url) && !url.startsWith(OWN) && packageOf(url) === null;
}

function placeIn(url: string, line: number, column: number): string {
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  const map = findSourceMap(url) ?? findSourceMap(path);
  const entry: Partial<SourceMapping> = map?.findEntry(line, column) ?? {}; // nothing if it is not in the map
  if (entry.originalLine === undefined || entry.originalColumn === undefined)
    return `${path}:${line + 1}:${column + 1}`;
  return `${path}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function packageOf(url: string): string | null {
  const [, name] = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(url) ?? [];
  return name?.replaceAll("\\", "/") ?? null;
}
