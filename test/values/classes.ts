import { register } from "headwater";

/** Instances of these are plain data. */

export class Money {
  constructor(
    public cents: unknown,
    public currency: unknown = "EUR",
  ) {}
  get euros() {
    return Number(this.cents) / 100;
  }
}
export class Overdrawn extends Error {
  override readonly name = "Overdrawn";
  constructor(readonly missing: unknown) {
    super("cents are missing");
  }
}
register(Money, Overdrawn);
