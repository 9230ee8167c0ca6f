const express = require("express");
const app = express();
const timers = new Map();
app.get("/start/:id", function start(req, res) {
  timers.set(req.params.id, setTimeout(() => timers.delete(req.params.id), 60000).unref());
  res.send(`timers ${timers.size}`);
});
app.get("/stop/:id", function stop(req, res) {
  clearTimeout(timers.get(req.params.id));
  timers.delete(req.params.id);
  res.send(`timers ${timers.size}`);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
