import { Context, type OutsideResult, outside } from "headwater";

const charge = outside("kit-fixed-shop.charge", async (cents: number, { key }) => {
  const body = JSON.stringify({ cents });
  const answer = await fetch("https://pay.example/charges", {
    method: "POST",
    body,
    headers: { "Idempotency-Key": key },
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

export default class FixedShop extends Context {
  orders = this.children(Order);
}
