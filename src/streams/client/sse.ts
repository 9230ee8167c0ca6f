/** One event of a stream of Server-Sent Events. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The events of a response, as they come. Ends when the connection does. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const utf8 = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += utf8.decode(value, { stream: true });
      let from = 0;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
        const event = eventOf(text.slice(from, end));
        from = end + 2;
        if (event !== null) yield event;
      }
      text = text.slice(from);
    }
  } finally {
    await reader.cancel().catch(() => {}); // the connection may be lost already
  }
}

/** `null` for comments, which keep the connection alive. */
function eventOf(block: string): ServerEvent | null {
  const fields = { id: "", event: "", data: "" };
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    const field = line.slice(0, colon);
    if (field === "id" || field === "event" || field === "data") fields[field] = line.slice(colon + 2);
  }
  return fields.event === "" ? null : fields;
}
