/**
 * Waits by name. When nothing moves in a test file any more, the runner makes its pending waits fail, so that a test that would
 * hang fails where it waits, and says for what.
 */

interface Pending {
  readonly what: string;
  readonly fail: (why: string) => void;
}

const pending = new Set<Pending>();

/** The promise, unless the wait for it is in vain. */
export function waitFor<T>(what: string, promise: Promise<T>): Promise<T> {
  const inVain = new Error(); // its stack says who waits
  return new Promise<T>((resolve, reject) => {
    const wait: Pending = {
      what,
      fail: (why) => {
        inVain.message = `waited in vain ${what}: ${why}`;
        reject(inVain);
      },
    };
    pending.add(wait);
    promise.then(resolve, reject).finally(() => pending.delete(wait));
  });
}

const TURNS = 20;
const PAUSE_MS_MAX = 10;

/** Resolves when something is so. What happens in memory takes a few turns of the event loop; for the rest, it looks again and again. */
export function until(
  condition: () => unknown,
  what = `until ${String(condition).replace(/^(async )?\(\)\s*=>\s*/, "")}`,
): Promise<void> {
  let isOver = false;
  const looking = async () => {
    for (let looks = 0; !isOver && !(await condition()); looks++) {
      const pauseMs = Math.min(looks - TURNS, PAUSE_MS_MAX);
      await new Promise<void>((resolve) =>
        pauseMs > 0 ? setTimeout(resolve, pauseMs) : setImmediate(resolve),
      );
    }
  };
  return waitFor(what, looking()).finally(() => {
    isOver = true;
  });
}

/** Called when nothing moves any more. Says for what the file waits. */
export function failWaits(why: string): string[] {
  const waits = [...pending];
  pending.clear();
  for (const wait of waits) wait.fail(why);
  return waits.map(({ what }) => what);
}
