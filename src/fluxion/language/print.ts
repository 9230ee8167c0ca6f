import type { Pipeline } from "../pipeline.js";
import type { Fluxion, FluxionStream } from "./fluxion.js";

/** A pipeline in the language of figure 1. */
export function fluxionsOf({ parts, streams }: Pipeline): Fluxion[] {
  return parts.map(({ name, groups, context, code }) => ({
    name,
    groups: [...groups],
    context: [...context],
    streams: streams
      .filter(({ from }) => from === name)
      .map(({ kind, to, message }) => ({ kind, to: [to], message: [...message] })),
    code: code.trim(),
  }));
}

export function print(fluxions: readonly Fluxion[]): string {
  return `${fluxions.map(printed).join("\n\n")}\n`;
}

function printed({ name, groups, context, streams, code }: Fluxion): string {
  const tags = groups.length === 0 ? "" : ` & ${groups.join(", ")}`;
  const memory = context.length === 0 ? "" : ` {${context.join(", ")}}`;
  const lines = streams.length === 0 ? ["-> null"] : streams.map(arrow);
  return [`flx ${name}${tags}${memory}`, ...lines, ...code.split("\n").map(indented)].join("\n");
}

function arrow({ kind, to, message }: FluxionStream): string {
  const sent = message.length === 0 ? "" : ` [${message.join(", ")}]`;
  return `${kind === "start" ? ">>" : "->"} ${to.join(", ")}${sent}`;
}

function indented(line: string): string {
  return line === "" ? "" : `  ${line}`;
}
