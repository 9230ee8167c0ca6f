const express = require("express4");
const path = require("node:path");
const favicon = require("serve-favicon");

const app = express();
app.use(favicon(path.join(__dirname, "files", "icon.ico"), { maxAge: 1000 }));
app.get("/", (req, res) => {
  res.send("page");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
