import express from "express";

const app = express();
async function parse(text) {
  if (text === "bad") throw Object.assign(new RangeError("bad text"), { status: 422, code: "E_BAD" });
  return JSON.parse(text);
}
app.get("/", async function handler(req, res) {
  try {
    res.json(await parse(req.query.text));
  } catch (error) {
    res.status(error.status ?? 400).send(`${error.name} ${error.code} ${error.message}`);
  }
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
