import { statfs } from "node:fs/promises";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { performance } from "node:perf_hooks";
import type { MemberLoad } from "../journal/stream/beats.js";
import { ownTraffic } from "./traffic.js";

const SAMPLE_MS = 1000;
const DISK_MS = 10_000;
const MICROSECONDS = 1000;

/** How much of what it has does this process use? Measured at most once a second, when it is asked for (Stormy, section 4.3). */
export class ProcessUtilisation {
  readonly #queue: () => number;
  readonly #traffic = ownTraffic();
  #atMs = performance.now();
  #cpu = process.cpuUsage();
  #loop = performance.eventLoopUtilization();
  #bytes = this.#traffic.bytes;
  #disk = 0;
  #diskAtMs = Number.NEGATIVE_INFINITY;
  #last: MemberLoad | null = null;

  /** `queue`: how many requests wait for an answer in this process. */
  constructor(queue: () => number) {
    this.#queue = queue;
    this.#lookAtDisk(this.#atMs);
  }

  /** Null in the first second. */
  read(): MemberLoad | null {
    const now = performance.now();
    const ms = now - this.#atMs;
    if (ms < SAMPLE_MS) return this.#last;
    this.#lookAtDisk(now);
    const { user, system } = process.cpuUsage(this.#cpu);
    const loop = performance.eventLoopUtilization();
    const { bytes } = this.#traffic;
    const rss = process.memoryUsage.rss();
    this.#last = {
      cpu: share((user + system) / MICROSECONDS / ms / availableParallelism()),
      loop: share(performance.eventLoopUtilization(loop, this.#loop).utilization),
      memory: share(rss / memoryOf()),
      memoryBytes: rss,
      networkBytesPerSecond: Math.round(((bytes - this.#bytes) * 1000) / ms),
      queue: this.#queue(),
      disk: this.#disk,
    };
    this.#atMs = now;
    this.#cpu = process.cpuUsage();
    this.#loop = loop;
    this.#bytes = bytes;
    return this.#last;
  }

  /** The disk that has this process's tables. */
  #lookAtDisk(now: number): void {
    if (now - this.#diskAtMs < DISK_MS) return;
    this.#diskAtMs = now;
    statfs(tmpdir()).then(
      ({ blocks, bfree }) => {
        this.#disk = blocks === 0 ? 0 : share(1 - bfree / blocks);
      },
      () => {}, // a system that does not say so has no figure
    );
  }
}

/** What the machine has, or the container may take. */
function memoryOf(): number {
  const allowed = process.constrainedMemory?.() ?? 0;
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem();
}

function share(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;
}
