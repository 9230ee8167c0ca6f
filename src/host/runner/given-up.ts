import { HeadwaterError } from "../../errors.js";
import type { NodeEvent } from "../event/index.js";
import { idOf } from "../store/index.js";

/** Hosts do not survive an event, whatever else they run: what its caller hears, or `onError` if it has none. */
export function givenUp({ ticket, payload }: NodeEvent): HeadwaterError {
  const { slot, method, record } = payload;
  const ended =
    `${record?.hostsLost} hosts have ended while ${slot}.${method.name}(…) was running there, ${record?.lostAlone} of ` +
    `them with nothing else to do. The last one: ${record?.why}.`;
  const look = "Look for what ends or exhausts its host";
  if (!record?.isParked) return new HeadwaterError("HW-6003", `${ended} So it is not tried again. ${look}.`);
  const id = idOf(slot.node, ticket);
  const what = `${ended} So it is parked as ${id}: the journal keeps it. ${look}, then run it with \`headwater events parked replay ${id}\`, or drop it.`;
  return new HeadwaterError("HW-6031", what);
}
