import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** A button that asks the server for something: busy until it is done, and then it says what went wrong, if anything did. */
export function Action({
  run,
  confirm: question,
  danger = false,
  disabled = false,
  children,
}: {
  run: () => Promise<unknown>;
  confirm?: string;
  danger?: boolean;
  disabled?: boolean;
  children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const act = async () => {
    if (question !== undefined && !confirm(question)) return;
    setBusy(true);
    setProblem(null);
    await run().catch((error: Error) => setProblem(error.message));
    setBusy(false);
  };
  return (
    <span class="action">
      <button type="button" class={danger ? "danger" : ""} disabled={disabled || isBusy} onClick={act}>
        {children}
      </button>
      {problem !== null && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
