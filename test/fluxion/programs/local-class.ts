import express from "express";

class Stack<T> {
  readonly #items: T[] = [];
  push(item: T): this {
    this.#items.push(item);
    return this;
  }
  get size(): number {
    return this.#items.length;
  }
  pop(): T | undefined {
    return this.#items.pop();
  }
}
const app = express();
app.get("/", function handler(req, res) {
  const stack = new Stack<string>();
  for (const c of String(req.query.text)) stack.push(c);
  let text = "";
  while (stack.size > 0) text += stack.pop();
  res.send(text);
});
const server = app.listen(0, () =>
  console.log(`listening on ${(server.address() as { port: number }).port}`),
);
