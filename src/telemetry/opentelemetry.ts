import {
  type Attributes,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { type EventFact, type Observation, placeIn, type TraceLink } from "../observe/index.js";
import type { Observed } from "./observed.js";

export interface TraceEventsOptions {
  /** Unless it says otherwise, the tracer `"headwater"` of the provider that the process has registered. */
  readonly tracer?: Tracer;
}

/** Spans of so many events are remembered, for the events that they start. */
const REMEMBERED_MAX = 10_000;

/**
 * Makes one span of each event, wherever it ran, when it is settled. An event that another one started, by `start`, a timer or an outside call, is
 * a child of the event that started it; the event of a request is a child of the span that was active where it was made, or of the `traceparent` that it came
 * with over HTTP. Outside functions run within the span of the event that asked for them, so that what they send carries
 * the trace on.
 */
export function traceEvents(service: Observed, options: TraceEventsOptions = {}): Observation {
  return service.observe([], () => {}, { trace: new Spans(options.tracer ?? trace.getTracer("headwater")) });
}

class Spans implements TraceLink {
  readonly #tracer: Tracer;
  readonly #spans = new Map<string, SpanContext>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  current(): string | null {
    const active = trace.getSpanContext(context.active());
    if (active === undefined || !isSpanContextValid(active)) return null;
    const flags = active.traceFlags.toString(16).padStart(2, "0");
    return `00-${active.traceId}-${active.spanId}-${flags}`;
  }

  settled(fact: EventFact): void {
    const { node, ticket, context: address, method, ok, error, atMs, waitedMs, ranMs, totalMs } = fact;
    const beganMs = atMs - totalMs;
    const parent = this.#parentOf(fact);
    const span = this.#tracer.startSpan(
      `${placeIn(address)}.${method}`,
      {
        kind: fact.startedBy === "request" ? SpanKind.SERVER : SpanKind.INTERNAL,
        startTime: beganMs,
        attributes: attributesOf(fact),
      },
      parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
    );
    span.addEvent("attempt begins", beganMs + waitedMs);
    span.addEvent("finished", beganMs + waitedMs + ranMs);
    if (!ok) span.setStatus({ code: SpanStatusCode.ERROR, message: error ?? "" });
    span.end(atMs);
    this.#remember(keyOf(node, ticket), span.spanContext());
  }

  within<T>(node: string, ticket: number, work: () => T): T {
    const span = this.#spans.get(keyOf(node, ticket));
    if (span === undefined) return work();
    return context.with(trace.setSpanContext(ROOT_CONTEXT, span), work);
  }

  #parentOf({ parentNode, parent, trace: given }: EventFact): SpanContext | null {
    if (given !== null) return spanContextOf(given);
    return parent === null || parentNode === null
      ? null
      : (this.#spans.get(keyOf(parentNode, parent)) ?? null);
  }

  #remember(key: string, span: SpanContext): void {
    this.#spans.set(key, span);
    for (const oldest of this.#spans.keys()) {
      if (this.#spans.size <= REMEMBERED_MAX) break;
      this.#spans.delete(oldest);
    }
  }
}

function keyOf(node: string, ticket: number): string {
  return `${node}/${ticket}`;
}

function spanContextOf(traceparent: string): SpanContext | null {
  const [, traceId = "", spanId = "", flags = "00"] = traceparent.split("-");
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(found) ? found : null;
}

function attributesOf(fact: EventFact): Attributes {
  const { node, ticket, context: address, method, startedBy, attempts, host, error } = fact;
  return {
    "headwater.node": node,
    "headwater.ticket": ticket,
    "headwater.context": address,
    "headwater.method": method,
    "headwater.started_by": startedBy,
    "headwater.attempts": attempts,
    ...(host === null ? {} : { "headwater.host": host }),
    ...(error === null ? {} : { "error.type": error }),
  };
}
