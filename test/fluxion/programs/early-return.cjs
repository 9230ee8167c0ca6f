const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  const n = Number(req.query.n);
  if (Number.isNaN(n)) return res.status(400).send("no number");
  if (n < 0) {
    res.sendStatus(416);
    return;
  }
  switch (n % 3) {
    case 0:
      return void res.redirect("/zero");
    case 1:
      return res.end("one");
    default:
      return res.json({ n });
  }
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
