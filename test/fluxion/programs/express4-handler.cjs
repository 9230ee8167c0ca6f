const express = require("express4");
const app = express();
app.get("/:name", function handler(req, res) {
  const name = req.params.name;
  res.set("x-length", String(name.length)).send([...name].sort().join(""));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
