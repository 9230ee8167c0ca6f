const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const express = require("express");

const file = path.join(os.tmpdir(), `headwater-text-changed-${process.pid}`);
if (!fs.existsSync(file)) fs.writeFileSync(file, "first");
const text = fs.readFileSync(file, "utf8");
fs.writeFileSync(file, "second");
process.on("exit", () => fs.rmSync(file));

const app = express();
// The value is not sent along, as it is part of an object.
const settings = { text };
app.get("/", function handler(req, res) {
  res.send(settings.text + req.query.text);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
