import express from "express";
import MarkdownIt from "markdown-it";

const md = new MarkdownIt({ linkify: true });
const app = express();
app.use(express.text());
app.post("/", function handler(req, res) {
  res.send(md.render(req.body));
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
