import { Context } from "../model/context.js";

/**
 * Ordering (Blazes, section V.B.2): all inputs of a component go through one logical node, whose tickets are their order.
 * One receiver sees a logical node's messages in ticket order, so all instances that are sent to here see the same
 * sequence, and after a crash the journal has it. Another run may choose another one.
 */
export abstract class Sequencer<T> extends Context {
  next = 0;

  /** Gives a record its place and sends it on. */
  submit(record: T): number {
    const position = this.next;
    this.next += 1;
    this.deliver(position, record);
    return position;
  }

  /** Sends to every instance: `this.event.send(this.event.peer(Report, name)).take(position, record)`. */
  protected abstract deliver(position: number, record: T): void;
}
