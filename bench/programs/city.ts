import { Context } from "headwater";

const FAR_MS = 1e9;

class House extends Context<number> {
  lights = 0;

  set(lights: number): void {
    this.lights = lights;
  }

  bump(): number {
    this.lights += 1;
    return this.lights;
  }

  /** Timers that are far from due. */
  wait(timers: number): void {
    for (let i = 0; i < timers; i++) this.event.after(FAR_MS + i, this.bump);
  }
}

/** A program with much state, made by few events. */
export class City extends Context {
  houses = this.children(House);

  async build(from: number, count: number): Promise<void> {
    for (let i = from; i < from + count; i++) await this.houses(i).set(1);
  }

  async wait(from: number, count: number, timers: number): Promise<void> {
    for (let i = from; i < from + count; i++) await this.houses(i).wait(timers);
  }
}
