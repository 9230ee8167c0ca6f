/** Code that yields what it waits for, and gets what came of it. All else is done at once. */
export type Steps<T> = Generator<unknown, T, unknown>;

/** Takes all steps: gives the result if nothing had to be waited for, else a promise of it. */
export function takeAll<T>(steps: Steps<T>): T | Promise<T> {
  const first = steps.next();
  return first.done ? first.value : takeOthers(steps, first.value);
}

async function takeOthers<T>(steps: Steps<T>, first: unknown): Promise<T> {
  for (let awaited = first; ; ) {
    const step = await Promise.resolve(awaited).then(
      (value) => steps.next(value),
      (error: unknown) => steps.throw(error),
    );
    if (step.done) return step.value;
    awaited = step.value;
  }
}
