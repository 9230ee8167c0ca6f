const STEPS_PER_UNIT = 1000;

let sink = 0;

/**
 * The paper's P: a fixed loop per unit, about one or two microseconds on a present-day core. Each step needs
 * the one before, and the result is kept, so the compiler can neither shorten the loop nor drop it.
 */
export function spin(units: number): void {
  let x = sink;
  for (let step = units * STEPS_PER_UNIT; step > 0; step--) x = (Math.imul(x, 1664525) + 1013904223) | 0;
  sink = x;
}
