import { HeadwaterError } from "../../errors.js";
import type { Random } from "../../random.js";
import { type DiskLuck, SimDisk } from "./disk.js";
import { groupsOn, SimJournal } from "./journal.js";
import type { Recorder } from "./recorder.js";
import { WatchedLedger } from "./watched-ledger.js";
import type { WorldOptions } from "./world-run.js";

/** What outlives the process in a simulated world, and when the process ends. */
export class Storage {
  readonly #disk = new SimDisk();
  readonly #random: Random;
  readonly #luck: DiskLuck;
  readonly #crash: number;
  readonly #contextsInMemory: number;
  #crashesLeft: number;
  #ledger: WatchedLedger | null = null;

  constructor(
    random: Random,
    readonly recorder: Recorder,
    readonly options: WorldOptions,
  ) {
    this.#random = random.fork();
    this.#luck = {
      failure: options.crashes ? random.pick([0, 0, 0.003]) : 0,
      fullness: options.crashes ? random.pick([0, 0, 0.3, 0.9]) : 0,
      slowness: random.pick([0, 0.3, 0.8]),
      tear: random.pick([0, 0.5]),
    };
    this.#crash = random.pick([0.001, 0.005, 0.03]);
    this.#crashesLeft = options.crashes ? random.int(8) : 0;
    this.#contextsInMemory = random.pick([1, 4, 1000]);
  }

  /** What a process finds when it begins. */
  open(later: (what: string, happen: () => void) => void): WatchedLedger {
    const journal = new SimJournal(this.#disk, this.#luck, this.#random, later);
    if (journal.wasTorn) this.options.marks.hit("a crash left a torn record");
    this.#ledger = new WatchedLedger(journal, this.recorder, this.#contextsInMemory, this.options.plant);
    return this.#ledger;
  }

  get hasFailed(): boolean {
    return this.#ledger?.journal.hasFailed ?? false;
  }

  /** Was a request refused because the disk was full? */
  hasNoRoom(error: unknown): boolean {
    const isFull = error instanceof HeadwaterError && error.code === "HW-3026";
    if (isFull) this.options.marks.hit("the journal had no room");
    return isFull;
  }

  /** Does the process end here? */
  isCrashDue(): boolean {
    if (this.hasFailed) {
      this.options.marks.hit("the disk failed");
      return true;
    }
    if (this.#crashesLeft === 0 || !this.#random.chance(this.#crash)) return false;
    this.#crashesLeft -= 1;
    return true;
  }

  crash(): void {
    this.options.marks.hit("a crash ended the program");
    if (this.#random.chance(0.5)) this.#disk.kill(this.#random);
    else this.#disk.crash(this.#random, this.#luck);
    if (this.#ledger?.survived(groupsOn(this.#disk, this.#luck, this.#random)))
      this.options.marks.hit("a commit was known to the disk alone");
  }
}
