import type { Moment } from "../../core/event.js";
import type { Ports } from "./ports.js";

/**
 * A program that goes on from its journal goes on with the clock of the process before it: delays, and the ages of what
 * the journal keeps, are measured as if there had been one process. For how long there was none, only the machine's
 * clock can tell: from the last event that left something in the journal to now, and never less than nothing. So a clock that was set back
 * since makes timers late, by no more than the time since that event; one that was set forward makes them early by as much
 * as it was set. What the clock did before, while a process ran, does not matter.
 */
export function goingOn(ports: Ports, last: Moment | null): Ports {
  if (last === null) return ports;
  const pauseMs = Math.max(0, ports.timeOfDay() - last.ms);
  const aheadMs = last.steadyMs + pauseMs - ports.now();
  return {
    ...ports,
    now: () => ports.now() + aheadMs,
    at: (time, task) => ports.at(time - aheadMs, task),
  };
}
