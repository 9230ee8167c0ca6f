/** What the rule needs to know of the classes of a file. Nodes are those of ESTree, as far as they are looked at. */

export interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ContextClassInfo {
  /** The names of its async methods, private ones with their `#`. */
  readonly asyncMethods: ReadonlySet<string>;
  /** The fields that hold children. */
  readonly children: ReadonlySet<string>;
}

const BASES: ReadonlySet<string> = new Set(["Context", "AnonymousContext"]);
const DECLARES: ReadonlySet<string> = new Set(["child", "children"]);

export function asNode(value: unknown): Node | null {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string"
    ? (value as Node)
    : null;
}

/** The name that a class extends, or a member has: `Context` of `Context` and of `headwater.Context`. */
export function nameOf(value: unknown): string | null {
  const node = asNode(value);
  if (node === null) return null;
  if (node.type === "Identifier") return String(node.name);
  if (node.type === "PrivateIdentifier") return `#${String(node.name)}`;
  return node.type === "MemberExpression" && node.computed !== true ? nameOf(node.property) : null;
}

/** Remembers the context classes of a file, from the first to the last: a class stands before its subclasses. */
export class ContextClasses {
  readonly #byName = new Map<string, ContextClassInfo>();

  /** What is known of a class; null if it is not known to be a context. */
  add(cls: Node): ContextClassInfo | null {
    const base = nameOf(cls.superClass);
    if (base === null) return null;
    const inherited = this.#byName.get(base);
    if (inherited === undefined && !BASES.has(base)) return null;
    const asyncMethods = new Set(inherited?.asyncMethods);
    const children = new Set(inherited?.children);
    for (const member of membersOf(cls)) {
      const name = nameOf(member.key);
      if (name === null || member.static === true) continue;
      const value = asNode(member.value);
      if (member.type === "MethodDefinition" && value?.async === true) asyncMethods.add(name);
      if (member.type === "PropertyDefinition" && declaresChildren(value)) children.add(name);
    }
    const info = { asyncMethods, children };
    const own = nameOf(cls.id);
    if (own !== null) this.#byName.set(own, info);
    return info;
  }
}

function membersOf(cls: Node): Node[] {
  const body = asNode(cls.body)?.body;
  return Array.isArray(body) ? body.flatMap((member) => asNode(member) ?? []) : [];
}

/** `this.child(…)` or `this.children(…)`. */
function declaresChildren(value: Node | null): boolean {
  const callee = value?.type === "CallExpression" ? asNode(value.callee) : null;
  return asNode(callee?.object)?.type === "ThisExpression" && DECLARES.has(nameOf(callee) ?? "");
}
