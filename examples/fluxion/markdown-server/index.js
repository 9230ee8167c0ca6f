// Renders Markdown with highlighted code: POST /render. Counts what it has rendered.
import express from "express";
import hljs from "highlight.js";
import MarkdownIt from "markdown-it";
import { page } from "./page.js";

const markdown = new MarkdownIt({
  linkify: true,
  typographer: true,
  highlight(code, language) {
    return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : "";
  },
});

const app = express();
let rendered = 0;

app.use(express.text({ type: "text/*", limit: "1mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.get("/count", (req, res) => {
  res.json({ rendered });
});

app.post("/render", (req, res) => {
  if (typeof req.body !== "string" || req.body === "") {
    return res.status(400).send("Send some Markdown.");
  }
  rendered += 1;
  const html = markdown.render(req.body);
  res.type("html").send(page(html));
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
