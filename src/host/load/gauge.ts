import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { HostLoad } from "../fleet/index.js";

/** One in so many events is asked how long it has waited. */
const SAMPLE_EVERY = 16;
/** So many unfinished events are remembered. */
const ASKED_MAX = 4096;
/** A clock that moves by more than this beside the monotonic one was set. */
const SET_MS_MIN = 250;

/** Measures a host, from reading to reading. */
export class Gauge {
  #loop = performance.eventLoopUtilization();
  #since = performance.now();
  #events = 0;
  #waitedMs = 0;
  #samples = 0;
  /** The tickets and times of events that are to be asked at their end, too. */
  readonly #asked = new Map<string, number>();
  #tookMs: number[] = [];
  /** How far the machine's clock, by which tickets say their time, is ahead of the monotonic one. */
  #aheadMs = Date.now() - performance.now();

  /** An event is about to start that got its ticket at that time. */
  started({ node, ticket, time: ticketMs }: { node: string; ticket: number; time: number }): void {
    this.#events += 1;
    if (this.#events % SAMPLE_EVERY !== 1) return;
    if (this.#asked.size < ASKED_MAX) this.#asked.set(`${node} ${ticket}`, ticketMs);
    this.#waitedMs += Math.max(0, Date.now() - ticketMs);
    this.#samples += 1;
  }

  finished({ node, ticket }: { node: string; ticket: number }): void {
    if (this.#asked.size === 0) return;
    const name = `${node} ${ticket}`;
    const ticketMs = this.#asked.get(name);
    if (ticketMs === undefined || !this.#asked.delete(name)) return;
    this.#tookMs.push(Math.max(0, Date.now() - ticketMs));
  }

  read(): HostLoad {
    const loop = performance.eventLoopUtilization();
    const now = performance.now();
    if (this.#wasClockSet()) this.#forgetTimes();
    const { used_heap_size: heap, external_memory: outside } = getHeapStatistics();
    const load: HostLoad = {
      utilisation: performance.eventLoopUtilization(loop, this.#loop).utilization,
      heapBytes: heap + outside,
      eventsPerSecond: (this.#events * 1000) / (now - this.#since),
      queueMs: this.#samples === 0 ? 0 : this.#waitedMs / this.#samples,
      p99Ms: this.#tookMs.sort((a, b) => a - b)[Math.floor(this.#tookMs.length * 0.99)] ?? 0,
    };
    this.#loop = loop;
    this.#since = now;
    this.#events = 0;
    this.#forgetTimes();
    return load;
  }

  /** Then the times since the last reading say nothing: the head's clock was another one, or the end's. */
  #wasClockSet(): boolean {
    const aheadMs = Date.now() - performance.now();
    const wasSet = Math.abs(aheadMs - this.#aheadMs) > SET_MS_MIN;
    this.#aheadMs = aheadMs;
    if (wasSet) this.#asked.clear();
    return wasSet;
  }

  #forgetTimes(): void {
    this.#waitedMs = 0;
    this.#samples = 0;
    this.#tookMs = [];
  }
}
