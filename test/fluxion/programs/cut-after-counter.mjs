import express from "express";

let requests = 0;
const app = express();
function heavy(text) {
  let hash = 7;
  for (let round = 0; round < 1000; round++) for (const c of text) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  return hash.toString(16);
}
app.get("/", function handler(req, res) {
  requests += 1;
  const digest = heavy(String(req.query.text));
  res.send(digest);
});
app.get("/count", (req, res) => res.json({ requests }));
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
