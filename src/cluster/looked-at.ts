import { HeadwaterError } from "../errors.js";
import { type AnyService, INSPECTOR, PARKED } from "../host/service.js";

type Inspector = AnyService[typeof INSPECTOR];
type ParkedEvents = AnyService[typeof PARKED];

/** Contexts are looked at in the process that is the head of their log: `services` are the programs of which this one is. */
export function inspectorOver(services: () => readonly AnyService[], roots: readonly string[]): Inspector {
  const inspectors = () => services().map((service) => service[INSPECTOR]);
  const of = (address: string): Inspector => {
    const isBelow = (root: string) => address === root || [".", "("].includes(address.charAt(root.length));
    const has = (root: string) => address.startsWith(root) && isBelow(root);
    return inspectors().find((each) => each.roots.some(has)) ?? elsewhere();
  };
  const ofNode = (node: string | undefined): Inspector => {
    const all = inspectors();
    const found = node === undefined ? all[0] : all.find((each) => each.roots.includes(node));
    return found ?? elsewhere();
  };
  return {
    roots,
    outline: (address) => of(address).outline(address),
    children: (address, field, options) => of(address).children(address, field, options),
    state: async (address, bytesMax) => of(address).state(address, bytesMax),
    at: (ticket, node) => ofNode(node).at(ticket, node),
    changedBy: (node, ticket) => {
      return (
        inspectors()
          .find((each) => each.roots.includes(node))
          ?.changedBy(node, ticket) ?? null
      );
    },
    history: () => Object.assign({}, ...inspectors().map((each) => each.history())),
  };
}

function elsewhere(): never {
  throw new HeadwaterError("HW-6014", "no contexts are here to look at: ask the process that is the head.");
}

/** Parked events are where the head of their log is, too. */
export function parkedOver(services: () => readonly AnyService[]): ParkedEvents {
  const all = () => services().map((service) => service[PARKED]);
  const having = (id: string): ParkedEvents => {
    const found = all().find((each) => each.list().some((event) => event.id === id)) ?? all()[0];
    if (found !== undefined) return found; // which says that there is none
    throw new HeadwaterError("HW-6033", "no event is parked here: ask the process that is the head.");
  };
  return {
    list: () => all().flatMap((each) => each.list()),
    replay: async (id) => having(id).replay(id),
    drop: async (id) => having(id).drop(id),
  };
}
