import { createHash } from "node:crypto";
import type { GraphStream } from "../service/index.js";

/** What changes while streams flow, of one stream or query: small, because a page asks for it of all of them every second. */
export interface GraphFigures {
  /** `first`, `next`, `watermark`, `memoryBytes`, `late`, `errors`. */
  readonly figures: readonly [number, number, number | null, number, number, number];
  /** Left out where there are none. */
  readonly seals?: GraphStream["seals"];
  readonly producers?: GraphStream["producers"];
}

/** The graph as it is, or, for a caller that knows its shape already, only what changes while streams flow, in the same order. */
export interface GraphAnswer {
  readonly shape: string;
  readonly streams?: readonly GraphStream[];
  readonly changing?: readonly GraphFigures[];
}

export function graphAnswer(streams: readonly GraphStream[], known: string | null): GraphAnswer {
  const hash = createHash("sha256");
  for (const each of streams) hash.update(JSON.stringify(shapeOf(each)));
  const shape = hash.digest("base64url").slice(0, 16);
  return shape === known ? { shape, changing: streams.map(figuresOf) } : { shape, streams };
}

const CHANGING = ["first", "next", "watermark", "memoryBytes", "late", "errors", "seals", "producers"];

function shapeOf(stream: GraphStream): unknown {
  return Object.entries(stream).filter(([name]) => !CHANGING.includes(name));
}

function figuresOf(stream: GraphStream): GraphFigures {
  const { first, next, watermark, memoryBytes, late, errors, seals, producers } = stream;
  return {
    figures: [first, next, watermark, memoryBytes, late, errors],
    ...(seals === null ? {} : { seals }),
    ...(producers.length === 0 ? {} : { producers }),
  };
}
