import type { Node } from "yaml";
import { didYouMean } from "../../suggest.js";
import type { Acceptance, Component, Delivery, Dependency, Port, Seal, Stream } from "../graph.js";
import { readColumns } from "./components.js";
import type { MappingEntry, YamlPage } from "./problems.js";

const STREAM_KEYS = [
  "name",
  "from",
  "to",
  "seal",
  "watermark",
  "Rep",
  "rep",
  "delivery",
  "ordered",
  "writer",
  "changelog",
  "id",
  "attributes",
  "sample",
  "accept",
];
const DEPENDENCY_KEYS = ["from", "to", "injective", "order-preserving"];
const ACCEPT_KEYS = ["stream", "label", "reason"];
const DELIVERIES: readonly Delivery[] = ["exactly-once", "at-least-once"];
const WRITERS = ["single"] as const;
const ACCEPTABLE = ["Run", "Inst", "Diverge"] as const;

/** What a file says about a stream. Without ends it is about one that follows from the names of interfaces. */
export interface WrittenStream {
  readonly node: Node;
  readonly connects: boolean;
  readonly stream: Stream;
}

export function readStreams(
  page: YamlPage,
  node: Node,
  components: ReadonlyMap<string, Component>,
  accepted: Acceptance[],
): WrittenStream[] {
  if (!page.isMapping(node)) {
    return page.items(node).flatMap((item) => {
      const name = page.entries(item, "A stream").find(({ key }) => key === "name");
      if (name === undefined) page.problem(item, "A stream needs a name.");
      const word = name === undefined ? null : page.word(name.value, "name");
      return word === null ? [] : [readStream(page, word, item, item, components, accepted)];
    });
  }
  return page
    .entries(node, "streams")
    .map(({ key, keyNode, value }) => readStream(page, key, keyNode, value, components, accepted));
}

function readStream(
  page: YamlPage,
  name: string,
  at: Node,
  node: Node,
  components: ReadonlyMap<string, Component>,
  accepted: Acceptance[],
): WrittenStream {
  const fields = page.fields(node, `The stream ${name}`, STREAM_KEYS);
  const value = (key: string) => fields.get(key)?.value;
  const words = (key: string) => {
    const found = value(key);
    return found === undefined ? null : page.words(found, key);
  };
  const port = (key: "from" | "to") => {
    const found = value(key);
    return found === undefined ? null : readPort(page, found, key, components);
  };
  const rep = fields.get("Rep") ?? fields.get("rep");
  const replicated = rep === undefined ? undefined : page.yesOrNo(rep.value, "Rep");
  const delivery = fields.get("delivery");
  const delivered = delivery && readDelivery(page, delivery.value);
  const [id, changelog] = [words("id"), words("changelog")];
  const written = value("attributes");
  const attributes = written === undefined ? null : readColumns(page, written, "attributes");
  const writer = value("writer");
  const single = writer !== undefined && page.oneOf(writer, "writer", WRITERS) !== null;
  const ordered = value("ordered");
  const sample = value("sample");
  const accept = fields.get("accept");
  if (accept !== undefined) accepted.push(...readAcceptance(page, accept.value, name));
  const stream: Stream = {
    name,
    from: port("from"),
    to: port("to"),
    seals: [...readSeals(page, value("seal")), ...readWatermark(page, value("watermark"))],
    ...(replicated === undefined ? {} : { rep: replicated }),
    ...(delivered ? { delivery: delivered } : {}),
    ...(id === null ? {} : { id }),
    ...(ordered === undefined ? {} : { ordered: readOrder(page, ordered) }),
    ...(single ? { singleWriter: true } : {}),
    ...(changelog === null ? {} : { changelog }),
    ...(attributes === null ? {} : { attributes: attributes.names }),
    ...(attributes === null || Object.keys(attributes.types).length === 0 ? {} : { types: attributes.types }),
    ...(sample === undefined ? {} : { sample: readSample(page, sample) }),
    position: page.positionOf(at),
  };
  return { node: at, connects: fields.has("from") || fields.has("to"), stream };
}

/** `seal: batch`, `seal: [id, campaign]` (one key of two attributes), or several keys: `seal: [[batch], [word]]`. */
function readSeals(page: YamlPage, node: Node | undefined): Seal[] {
  if (node === undefined) return [];
  const items = page.items(node);
  const keys = items.some((item) => page.isList(item)) ? items : [node];
  return keys.flatMap((each) => {
    const key = page.words(each, "The key of a seal");
    return key === null ? [] : [{ key, prefix: false }];
  });
}

/** `ordered: [key]`, or `ordered: all` where one order holds for the whole stream. */
function readOrder(page: YamlPage, node: Node): readonly string[] {
  const words = page.words(node, "ordered") ?? [];
  return words.length === 1 && words[0] === "all" ? [] : words;
}

function readDelivery(page: YamlPage, node: Node): Delivery | null {
  const written = page.word(node, "delivery");
  if (written !== "at-most-once") return written === null ? null : page.oneOf(node, "delivery", DELIVERIES);
  return page.problem(
    node,
    "at-most-once loses records, and no label is about lost records. " +
      "If what arrives arrives once, say exactly-once.",
  );
}

/** `watermark: ts`, or `watermark: { attribute: ts, late: true }` where it is only estimated. */
function readWatermark(page: YamlPage, node: Node | undefined): Seal[] {
  if (node !== undefined && page.isMapping(node)) {
    const fields = page.fields(node, "A watermark", ["attribute", "late"]);
    const [attribute, late] = [fields.get("attribute"), fields.get("late")];
    if (attribute === undefined) return page.problem(node, 'A watermark needs an "attribute".') ?? [];
    const name = page.word(attribute.value, "attribute");
    const estimated = late !== undefined && page.yesOrNo(late.value, "late") === true;
    return name === null ? [] : [{ key: [name], prefix: true, ...(estimated ? { late: true } : {}) }];
  }
  const word = node === undefined ? null : page.word(node, "A watermark (one attribute)");
  return word === null ? [] : [{ key: [word], prefix: true }];
}

function readSample(page: YamlPage, node: Node): Readonly<Record<string, unknown>>[] {
  const items = page.items(node);
  if (items.length === 0) page.problem(node, "A sample is a list of records and not empty.");
  return items.flatMap((item) => {
    if (page.isMapping(item)) {
      const record = page.data(item) as Record<string, unknown> | null;
      return record === null ? [] : [record];
    }
    page.problem(item, "A record of a sample is a mapping (attribute: value).");
    return [];
  });
}

function readPort(
  page: YamlPage,
  node: Node,
  side: "from" | "to",
  components: ReadonlyMap<string, Component>,
): Port | null {
  const written = page.word(node, side);
  if (written === null) return null;
  const whole = components.get(written);
  const dot = written.lastIndexOf(".");
  const component = whole ?? (dot < 0 ? undefined : components.get(written.slice(0, dot)));
  if (component === undefined) {
    const name = dot < 0 ? written : written.slice(0, dot);
    const hint = didYouMean(name, components.keys());
    return page.problem(
      node,
      `There is no component "${name}".${hint} An end is written Component.interface.`,
    );
  }
  const names = [...new Set(component.paths.map((path) => (side === "from" ? path.to : path.from)))];
  const [only] = names;
  if (whole !== undefined && names.length === 1 && only !== undefined) {
    return { component: component.name, interface: only };
  }
  const name = whole === undefined ? written.slice(dot + 1) : "";
  if (names.includes(name)) return { component: component.name, interface: name };
  const kind = side === "from" ? "output" : "input";
  const choice = `It has: ${names.map((each) => `${component.name}.${each}`).join(", ")}.`;
  if (name === "") return page.problem(node, `${component.name} has several ${kind}s. ${choice}`);
  const hint = didYouMean(name, names) || ` ${choice}`;
  return page.problem(node, `${component.name} has no ${kind} "${name}".${hint}`);
}

export function readDependencies(page: YamlPage, node: Node): Dependency[] {
  return page.items(node).flatMap((item) => {
    const fields = page.fields(item, "A dependency", DEPENDENCY_KEYS);
    const [from, to] = [fields.get("from"), fields.get("to")];
    if (from === undefined || to === undefined) {
      page.problem(item, 'A dependency needs "from" and "to".');
      return [];
    }
    const flag = (key: string) => {
      const field = fields.get(key);
      return field !== undefined && page.yesOrNo(field.value, key) === true;
    };
    const [sources, targets] = [page.words(from.value, "from"), page.words(to.value, "to")];
    if (sources === null || targets === null) return [];
    const orderPreserving = flag("order-preserving");
    if (orderPreserving && sources.length + targets.length > 2) {
      page.problem(item, "An order-preserving dependency is between two single attributes.");
    }
    return [{ from: sources, to: targets, injective: flag("injective"), orderPreserving }];
  });
}

/** With `stream` given, the acceptance stands inside that stream and may be just a reason. */
export function readAcceptance(page: YamlPage, node: Node, stream?: string): Acceptance[] {
  return page.items(node).flatMap((item) => {
    if (stream !== undefined && !page.isMapping(item)) {
      const reason = page.word(item, "The reason for accepting");
      return reason === null ? [] : [{ stream, reason, position: page.positionOf(item) }];
    }
    const fields = page.fields(item, "accept", stream === undefined ? ACCEPT_KEYS : ACCEPT_KEYS.slice(1));
    const named = stream ?? wordIn(page, fields.get("stream"), "stream");
    const reason = wordIn(page, fields.get("reason"), "reason");
    const label = fields.get("label");
    const upTo = label && page.oneOf(label.value, "label", ACCEPTABLE);
    if (named === null) return page.problem(item, 'accept needs a "stream".') ?? [];
    if (reason === null || reason.trim() === "") {
      return page.problem(item, "Accepting needs a written reason: `reason: …`.") ?? [];
    }
    return [{ stream: named, reason, ...(upTo ? { label: upTo } : {}), position: page.positionOf(item) }];
  });
}

function wordIn(page: YamlPage, entry: MappingEntry | undefined, what: string): string | null {
  return entry === undefined ? null : page.word(entry.value, what);
}
