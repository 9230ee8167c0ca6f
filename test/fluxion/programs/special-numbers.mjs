import express from "express";

const app = express();
async function special(kind, list) {
  const map = new Map([
    ["nan", Number.NaN],
    ["zero", -0],
    ["big", 2n ** 70n],
    ["none", undefined],
    ["set", new Set(list)],
  ]);
  return { value: map.get(kind), list, again: list };
}
app.get("/:kind", async function handler(req, res) {
  const made = await special(req.params.kind, [1, 2]);
  res.send(
    `${Object.is(made.value, -0)} ${typeof made.value} ${String(made.value)} ${made.list === made.again}`,
  );
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
