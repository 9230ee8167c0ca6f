import assert from "node:assert/strict";
import { test } from "node:test";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { run, serve } from "headwater";
import { traceEvents } from "headwater/opentelemetry";
import { until } from "../waits.js";
import Mill, { api, hooks, seen } from "./programs/mill.js";

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
hooks.look = () => trace.getSpanContext(context.active())?.spanId ?? null;

const module = new URL("./programs/mill.ts", import.meta.url).href;

/** The names on the way from a span up to the first that the program did not make. */
function wayUp(spans: readonly ReadableSpan[], from: ReadableSpan): string[] {
  const above = spans.find((each) => each.spanContext().spanId === from.parentSpanContext?.spanId);
  return [from.name, ...(above === undefined ? [] : wayUp(spans, above))];
}

const WAY = [
  "Mill.arrived",
  "Mill.deliver",
  "Mill.wheels.rest",
  "Mill.wheels.turn",
  "Mill.wheels.turn",
  "Mill.wheels.turn",
];

for (const hosts of [1, 2]) {
  test(`one trace leads from a request over all events that come of it, on ${hosts} hosts, and on to the outside`, async (t) => {
    exporter.reset();
    seen.length = 0;
    await using service = await run(Mill, hosts === 1 ? {} : { hosts, module });
    const tracing = traceEvents(service);
    t.after(() => tracing.stop());
    await using server = await serve(service, api);
    const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const response = await fetch(`${server.url}/api/turn`, {
      method: "POST",
      headers: { "content-type": "application/json", traceparent: `00-${traceId}-${spanId}-01` },
      body: "[2]",
    });
    assert.equal(response.status, 200);
    await until(() => exporter.getFinishedSpans().some(({ name }) => name === "Mill.arrived"));
    const spans = exporter.getFinishedSpans();
    const last = spans.find(({ name }) => name === "Mill.arrived") as ReadableSpan;
    assert.deepEqual(wayUp(spans, last), WAY);
    assert.deepEqual([...new Set(spans.map((each) => each.spanContext().traceId))], [traceId]);
    const first = spans.find((each) => each.parentSpanContext?.spanId === spanId);
    assert.deepEqual(
      [first?.name, first?.attributes["headwater.context"]],
      ["Mill.wheels.turn", "Mill.wheels(2)"],
    );
    assert.equal(typeof first?.attributes["headwater.host"], hosts === 1 ? "undefined" : "number");
    const delivered = spans.find(({ name }) => name === "Mill.deliver");
    assert.deepEqual(seen, [{ traceparent: delivered?.spanContext().spanId }]);
  });
}

test("a request made within a span belongs to it, and what is not well formed is no trace", async () => {
  exporter.reset();
  await using service = await run(Mill);
  const tracing = traceEvents(service);
  await using server = await serve(service, api);
  const tracer = trace.getTracer("test");
  await tracer.startActiveSpan("caller", async (span) => {
    await service.root.wheels(0).turn(0);
    span.end();
  });
  for (const traceparent of ["x", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, "00-0af7-b7ad-01"])
    await fetch(`${server.url}/api/turn`, {
      method: "POST",
      headers: { "content-type": "application/json", traceparent },
      body: "[0]",
    });
  const turns = () => exporter.getFinishedSpans().filter(({ name }) => name === "Mill.wheels.turn");
  await until(() => turns().length === 4);
  const caller = exporter.getFinishedSpans().find(({ name }) => name === "caller");
  assert.deepEqual(
    turns().map((each) => each.parentSpanContext?.spanId),
    [caller?.spanContext().spanId, undefined, undefined, undefined],
  );
  tracing.stop();
  const { length } = exporter.getFinishedSpans();
  await service.root.wheels(0).turn(0);
  assert.equal(exporter.getFinishedSpans().length, length);
});
