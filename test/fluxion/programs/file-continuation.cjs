const fs = require("node:fs");
const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  fs.readFile(req.query.missing === undefined ? __filename : `${__filename}.none`, function reply(err, data) {
    if (err) return res.status(404).send(`${err.code} ${err.syscall}`);
    res.send(`bytes ${data.length} ${Buffer.isBuffer(data)}`);
  });
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
