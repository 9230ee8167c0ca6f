/**
 * The paper's files list components and no streams; what is called the same is connected. An output leads to every
 * input of that name in another component; an input that nothing leads to is a source, an output that leads nowhere a
 * sink. Interfaces that a stream of the file names are left alone.
 */

import type { Component, Port, Stream } from "../graph.js";
import { grouped } from "../grouped.js";

interface Connection {
  readonly from: Port | null;
  readonly to: Port | null;
}

export function impliedStreams(components: readonly Component[], explicit: readonly Stream[]): Stream[] {
  const taken = new Set(
    explicit.flatMap(({ from, to }) => [
      ...(from === null ? [] : [`from ${showPort(from)}`]),
      ...(to === null ? [] : [`to ${showPort(to)}`]),
    ]),
  );
  const inputs: Port[] = [];
  const outputs: Port[] = [];
  for (const { name: component, paths } of components) {
    for (const each of new Set(paths.map(({ from }) => from))) inputs.push({ component, interface: each });
    for (const each of new Set(paths.map(({ to }) => to))) outputs.push({ component, interface: each });
  }
  const free = inputs.filter((port) => !taken.has(`to ${showPort(port)}`));
  const freeByName = grouped(free, (port) => port.interface);
  const fed = new Set<Port>();
  const connections: Connection[] = [];
  for (const from of outputs) {
    if (taken.has(`from ${showPort(from)}`)) continue;
    const readers = (freeByName.get(from.interface) ?? []).filter(
      ({ component }) => component !== from.component,
    );
    for (const to of readers) {
      connections.push({ from, to });
      fed.add(to);
    }
    if (readers.length === 0) connections.push({ from, to: null });
  }
  for (const to of free) if (!fed.has(to)) connections.push({ from: null, to });
  return named(connections);
}

/** By the interface, as far as that tells streams apart; names must not depend on the order of the file. */
function named(connections: readonly Connection[]): Stream[] {
  const groups = grouped(connections, ({ from, to }) => (from ?? to)?.interface ?? "");
  const stream = (name: string, { from, to }: Connection): Stream => ({ name, from, to, seals: [] });
  return [...groups].flatMap(([name, group]) => {
    const [only] = group;
    if (group.length === 1 && only !== undefined) return [stream(name, only)];
    const alike = grouped(group, ({ from }) => from?.component ?? "");
    return group.map((each) => {
      const { from, to } = each;
      const single = alike.get(from?.component ?? "")?.length === 1 || to === null;
      if (from === null) return stream(single ? name : `to ${showPort(to)}`, each);
      return stream(single ? showPort(from) : `${showPort(from)} to ${to.component}`, each);
    });
  });
}

function showPort(port: Port): string {
  return `${port.component}.${port.interface}`;
}
