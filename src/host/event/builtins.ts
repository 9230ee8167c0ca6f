import { Context } from "../../model/context.js";
import { type Path, resolvePath } from "../../model/path.js";
import type { Method } from "../../model/shape.js";
import type { State } from "../../state/fields.js";
import { PreviewBudget, preview } from "../../state/preview.js";
import { rootOf, type Slot } from "../context/index.js";
import type { EnteredContext } from "./entered-context.js";
import type { Frame } from "./frame.js";

/**
 * Methods that every context has besides its own, for the runtime to call: as calls of an event they wait their turn, go to
 * the host that has the context, and are undone as any other. No method of an application has such a name.
 */

function builtin(
  name: string,
  takesTime: boolean,
  act: (frame: Frame, ...args: never[]) => unknown,
  readonly = false,
): Method {
  const body: Method["body"] = function (...args) {
    return act(Context.activationOf(this) as unknown as Frame, ...(args as never[]));
  };
  return { name, label: name, readonly, reads: [], isAsync: takesTime, takesTime, body };
}

/** The timer that started the event has gone off. Says whether this context, which set it, still had it armed. */
export function disarm({ execution, entry }: Frame): boolean {
  const { origin } = execution.request;
  const wasArmed = origin.kind === "timer" && entry?.disarm(origin.id) === true;
  if (!wasArmed) execution.node.marks?.hit("a cancelled timer had fired already");
  return wasArmed;
}

export const DISARM = builtin("(disarm)", false, disarm);

/** The context is as if it had never been made, and its timers are cancelled. */
function reset(frame: Frame): void {
  const entry = frame.entry as EnteredContext;
  const timers = entry.armedTimers();
  if (timers.length > 0) frame.execution.node.marks?.hit("a deletion cancelled a timer");
  for (const [id, due] of timers) frame.add({ kind: "cancel", id, due });
  entry.reset();
}

const RESET = builtin("(reset)", false, reset);

/** The same with the contexts below that have these paths. */
export const DELETE = builtin("(delete)", true, (frame, paths: readonly Path[]) => {
  reset(frame);
  if (paths.length === 0) return undefined;
  frame.execution.node.marks?.hit("a context was deleted with others below it");
  const root = rootOf(frame.slot);
  return Promise.all(paths.map((path) => frame.call(resolvePath(root, path), RESET, []))).then(
    () => undefined,
  );
});

/** Says which children there are. It is answered where it is admitted, and never runs. */
export const LIST = builtin("(list)", false, () => undefined);

/** The fields of a context as JSON, within so many bytes (`state/preview.ts`). */
export function shownState({ shape: { fields } }: Slot, state: State, bytesMax: number): string {
  const budget = new PreviewBudget(bytesMax);
  return JSON.stringify(Object.fromEntries(fields.map((field, i) => [field, preview(state[i], budget)])));
}

export const SHOW = builtin(
  "(show)",
  false,
  ({ slot, entry }, bytesMax: number) => {
    return shownState(slot, (entry as EnteredContext).state, bytesMax);
  },
  true,
);

/** Is a call of this method about a context and all that is below it? */
export function isWhole(method: Method): boolean {
  return method === DELETE || method === LIST;
}

export const builtins: ReadonlyMap<string, Method> = new Map(
  [DISARM, RESET, DELETE, LIST, SHOW].map((method) => [method.name, method]),
);
