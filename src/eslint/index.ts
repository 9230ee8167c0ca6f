/**
 * `headwater/eslint`: finds calls in context classes that are not awaited, before they are run. It looks at the syntax
 * alone, so it needs no type information and no parser of its own.
 */

import { asNode, ContextClasses, type ContextClassInfo, type Node, nameOf } from "./classes.js";

interface RuleContext {
  report(found: { node: unknown; messageId: string; data: Record<string, string> }): void;
}

const NESTED = ["FunctionDeclaration", "FunctionExpression"];

/** What is called, from `this` on: `["rooms", "enter"]` for `this.rooms(1).enter(…)`. Null if it does not begin there. */
function calledFromThis(expression: Node): string[] | null {
  const path: string[] = [];
  let at: Node | null = expression;
  while (at !== null && at.type !== "ThisExpression") {
    if (at.type === "MemberExpression") {
      const name = nameOf(at);
      if (name === null) return null;
      path.unshift(name);
      at = asNode(at.object);
    } else if (at.type === "CallExpression") at = asNode(at.callee);
    else if (at.type === "ChainExpression" || at.type === "TSNonNullExpression") at = asNode(at.expression);
    else return null;
  }
  return at === null ? null : path;
}

function isForgotten({ asyncMethods, children }: ContextClassInfo, [first = "", ...rest]: string[]): boolean {
  return asyncMethods.has(first) || (children.has(first) && rest.length > 0);
}

const awaitCalls = {
  meta: {
    type: "problem",
    docs: { description: "calls in contexts are awaited" },
    messages: {
      forgotten:
        "{{ called }}(…) is part of the event, and is not awaited: the event would fail (HW-1005, HW-1026). " +
        "Write `await`, or use `this.event.start` for a later event.",
    },
    schema: [],
  },
  create(context: RuleContext) {
    const classes = new ContextClasses();
    /** What `this` is: a context, or something else. */
    const these: (ContextClassInfo | null)[] = [];
    const enterClass = (node: Node) => void these.push(classes.add(node));
    const leave = () => void these.pop();
    const enterFunction = (node: Node) => {
      const isMethod = asNode(node.parent)?.type === "MethodDefinition";
      these.push(isMethod ? (these.at(-1) ?? null) : null);
    };
    return {
      ClassDeclaration: enterClass,
      "ClassDeclaration:exit": leave,
      ClassExpression: enterClass,
      "ClassExpression:exit": leave,
      ...Object.fromEntries(
        NESTED.flatMap((type) => [
          [type, enterFunction],
          [`${type}:exit`, leave],
        ]),
      ),
      ExpressionStatement(node: Node) {
        const cls = these.at(-1);
        const call = asNode(node.expression);
        const isCall = call?.type === "CallExpression" || call?.type === "ChainExpression";
        if (!cls || call === null || !isCall) return;
        const path = calledFromThis(call);
        if (path === null || !isForgotten(cls, path)) return;
        context.report({ node, messageId: "forgotten", data: { called: ["this", ...path].join(".") } });
      },
    };
  },
};

const plugin = { meta: { name: "headwater" }, rules: { "await-calls": awaitCalls } };

/** For `eslint.config.js`: `export default [headwater.configs.recommended]`. */
export default {
  ...plugin,
  configs: {
    recommended: { plugins: { headwater: plugin }, rules: { "headwater/await-calls": "error" } },
  },
};
