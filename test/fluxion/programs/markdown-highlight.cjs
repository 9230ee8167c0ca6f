const express = require("express");
const hljs = require("highlight.js");
const MarkdownIt = require("markdown-it");
const md = new MarkdownIt({
  highlight(code, language) {
    return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : "";
  },
});
const app = express();
app.use(express.text());
app.post("/", function handler(req, res) {
  const html = md.render(req.body);
  res.send(html);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
