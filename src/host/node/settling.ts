import type { Ticket } from "../../core/event.js";
import type { Send } from "../../core/ready.js";
import type { Body, Effect } from "../event/index.js";
import type { Surroundings } from "./surroundings.js";
import type { Timers } from "./timers.js";

/** What is carried out when the journal has an event. Events that it starts are the core's, and its messages leave in ticket order. */

export function carryOut(
  effects: readonly Effect[],
  parent: Ticket,
  timers: Timers,
  around: Surroundings,
): void {
  for (let index = 0; index < effects.length; index++) {
    const effect = effects[index] as Effect;
    if (effect.kind === "outside") around.callOutside({ ...effect, parent, index });
    else if (effect.kind === "timer") timers.arm(effect);
    else if (effect.kind === "cancel") timers.disarm(effect.id);
  }
}

/** Lets a message leave, to a client or to another logical node. */
export function send(node: string, { ticket, sequence, body }: Send, around: Surroundings): void {
  const out = body as Body;
  if (out.kind === "client") around.tell(out.client, out.message, { node, ticket, index: out.index });
  else around.deliver(node, sequence, out.message);
}
