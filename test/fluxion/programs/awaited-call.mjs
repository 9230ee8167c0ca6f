import express from "express";

let rendered = 0;
const app = express();
async function render(text) {
  return `<p>${[...text].reverse().join("")}</p>`;
}
app.get("/", async function handler(req, res) {
  const html = await render(String(req.query.text));
  rendered += 1;
  res.send(`${html} ${rendered}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
