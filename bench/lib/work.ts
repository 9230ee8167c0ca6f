const STEPS_PER_UNIT = 1000;

let sink = 0;

/**
 * The paper's P: a fixed loop per unit, about one or two microseconds on a present-day core. Each step needs
 * the one before, and the result is kept, so the compiler can neither shorten the loop nor drop it.
 */
export function spin(units: number): void {
  let x = sink | 0; // an integer for the compiler, too, where it makes this part of another function
  for (let step = (units * STEPS_PER_UNIT) | 0; step > 0; step--)
    x = (Math.imul(x, 1664525) + 1013904223) | 0;
  sink = x;
}

// The compiler makes the function fast when it has been called often, and not only for long.
for (let calls = 0; calls < 2000; calls++) spin(1);

const asleep = new Int32Array(new SharedArrayBuffer(4));

/** Keeps this thread from doing anything for a while, without using a processor: as if it had a slow one of its own. */
export function block(ms: number): void {
  Atomics.wait(asleep, 0, 0, ms);
}

const CALIBRATION_UNITS = 20_000;

/** How many units take so long here. */
export function unitsIn(ms: number): number {
  spin(CALIBRATION_UNITS);
  const beganMs = performance.now();
  spin(CALIBRATION_UNITS);
  return Math.max(1, Math.round((ms * CALIBRATION_UNITS) / (performance.now() - beganMs)));
}
