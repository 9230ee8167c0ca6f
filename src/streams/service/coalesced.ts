/** A task that runs once at a time. Calls while it runs become one more run after it. */
export class Coalesced {
  readonly #task: () => Promise<void>;
  #isDue = false;
  #isRunning = false;

  constructor(task: () => Promise<void>) {
    this.#task = task;
  }

  async run(): Promise<void> {
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#isDue) {
        this.#isDue = false;
        await this.#task();
      }
    } finally {
      this.#isRunning = false;
    }
  }
}
