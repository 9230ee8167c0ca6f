import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** A button that asks the server for something: busy until it is done, and then it says what went wrong, if anything did. */
export function Action({
  run,
  confirm: question,
  danger = false,
  disabled = false,
  label,
  children,
}: {
  run: () => Promise<unknown>;
  confirm?: string;
  danger?: boolean;
  disabled?: boolean;
  /** What a screen reader says, where the text alone does not tell what the button is about. It begins with the text. */
  label?: string;
  children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const act = async () => {
    if (isBusy || (question !== undefined && !confirm(question))) return;
    setBusy(true);
    setProblem(null);
    await run().catch((error: Error) => setProblem(error.message));
    setBusy(false);
  };
  // A button that is disabled while it works would lose the focus.
  return (
    <span class="action">
      <button
        type="button"
        class={danger ? "danger" : ""}
        disabled={disabled}
        aria-disabled={isBusy || undefined}
        aria-busy={isBusy || undefined}
        aria-label={label}
        onClick={act}
      >
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
