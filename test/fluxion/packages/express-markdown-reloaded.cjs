const express = require("express4");
const path = require("node:path");
const markdown = require("express-markdown-reloaded");

const app = express();
app.engine("html", (file, { content, title }, done) => done(null, `<title>${title}</title>${content}`));
app.set("views", path.join(__dirname, "files"));
app.use(
  markdown({
    directory: path.join(__dirname, "files"),
    view: "page.html",
    context: { title: "Files" },
    marked: {},
  }),
);
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
