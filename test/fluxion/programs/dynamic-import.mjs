import express from "express";

const app = express();
app.get("/", async function handler(req, res) {
  const { wrap } = await import(`./parts/${req.query.part}.mjs`);
  res.send(wrap("x"));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
