const express = require("express");

const app = express();
app.get("/", function handler(req, res) {
  res.send(String(req.query.text).toUpperCase());
});
module.exports = app;
