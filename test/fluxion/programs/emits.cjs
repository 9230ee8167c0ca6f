const { EventEmitter } = require("node:events");
const express = require("express");
const app = express();
const bus = new EventEmitter();
const heard = [];
bus.on("text", function hear(text) {
  heard.push(text);
});
app.get("/", function handler(req, res) {
  bus.emit("text", req.query.text);
  res.json(heard);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
