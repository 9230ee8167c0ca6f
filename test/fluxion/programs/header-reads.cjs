const express = require("express4");
const app = express();
app.get("/", function handler(req, res) {
  res.json([
    req.get("X-Agent"),
    req.headers["x-agent"],
    req.method,
    req.path,
    req.originalUrl,
    req.ip === undefined,
  ]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
