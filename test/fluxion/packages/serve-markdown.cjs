const express = require("express4");
const path = require("node:path");
const serveMarkdown = require("serve-markdown");

const app = express();
app.use(serveMarkdown(path.join(__dirname, "files"), { style: "", classes: ["a", "b"] }));
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
