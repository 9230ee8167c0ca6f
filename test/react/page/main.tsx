import { connect, type ResumeStorage } from "headwater/client";
import { useConnection, useMessages, useWatch } from "headwater/react";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import type { api } from "../../../examples/chat.js";

/** A page of examples/chat.ts: the lines of a room are there when it opens, and follow what is said. */

declare const document: { getElementById(id: string): Element };
declare const location: { readonly origin: string };
declare const sessionStorage: ResumeStorage;

const client = connect<typeof api>(location.origin, {
  backoffMs: 20,
  backoffMaxMs: 200,
  timeoutMs: 60_000,
  resume: sessionStorage,
});
Object.assign(globalThis, { client });

function Lines({ room }: { readonly room: string }) {
  const lines = useWatch(client.api.recent, room);
  const again = useWatch(client.api.recent, room); // shares the subscription of the first
  if (lines.status === "loading") return <p>loading</p>;
  if (lines.status === "failed") return <p role="alert">{lines.error.message}</p>;
  return (
    <ol data-live={lines.isLive} data-same={lines.value === again.value}>
      {lines.value.map(({ from, text }) => (
        <li key={`${from} ${text}`}>{`${from}: ${text}`}</li>
      ))}
    </ol>
  );
}

function Chat() {
  const [room, setRoom] = useState("rivers");
  const [messages, setMessages] = useState(0);
  useMessages(client, () => setMessages((count) => count + 1));
  return (
    <>
      <p id="connection">{useConnection(client)}</p>
      <p id="messages">{messages}</p>
      <button type="button" onClick={() => setRoom(room === "rivers" ? "lakes" : "rivers")}>
        {room}
      </button>
      <Lines room={room} />
    </>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <Chat />
  </StrictMode>,
);
