import { Context, type OutsideResult, outside } from "headwater";

/** Planted: the request to the payment service does not carry the call's key. */
const charge = outside("kit-shop.charge", async (cents: number) => {
  const answer = await fetch("https://pay.example/charges", {
    method: "POST",
    body: JSON.stringify({ cents }),
  });
  return answer.status;
});

export class Order extends Context<string> {
  state: "none" | "placed" | "paid" = "none";

  place(cents: number) {
    if (this.state !== "none") return;
    this.state = "placed";
    this.event.outside(charge, cents, this.charged);
  }

  charged(result: OutsideResult<number>) {
    if (result.ok) this.state = "paid";
  }
}

export default class Shop extends Context {
  orders = this.children(Order);
}
