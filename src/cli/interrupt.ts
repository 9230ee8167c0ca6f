const INTERRUPTED = 130;

/**
 * Turns the first Ctrl-C (or a polite kill) into an abort, so that the run can end in good order; the second
 * ends the process at once, because then the user has waited long enough. Until `release`, the process stays
 * alive also when nothing else is going on in it.
 */
export function onInterrupt(first: () => void): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const interrupted = () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED);
    first();
    controller.abort();
  };
  const alive = setInterval(() => {}, 2 ** 30);
  process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
  return {
    signal: controller.signal,
    release: () => {
      clearInterval(alive);
      process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    },
  };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
