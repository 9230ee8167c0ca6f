/** A timer that goes off too late to matter. */
const NEVER_MS = 2 ** 31 - 1;

/** Keeps the process alive until it is called. Threads in the background do not. */
export function stayAlive(): () => void {
  const timer = setTimeout(() => {}, NEVER_MS);
  return () => clearTimeout(timer);
}
