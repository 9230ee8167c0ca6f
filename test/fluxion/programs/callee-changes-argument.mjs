import express from "express";

const app = express();
async function normalise(order) {
  order.done = true;
  return order.items.length;
}
app.get("/", async function handler(req, res) {
  const order = { items: [1, 2], done: false };
  const n = await normalise(order);
  res.send(`${n} ${order.done}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
