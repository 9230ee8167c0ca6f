const express = require("express");
const app = express();
const log = [];
function heavy(text) {
  return [...text].sort().join("");
}
app.get("/", function handler(req, res) {
  const done = heavy(String(req.query.text));
  log.push(done);
  res.send(`${log.length} ${log.at(-1)}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
