const fs = require("node:fs");
const path = require("node:path");
const express = require("express");
const pug = require("pug");

const template = fs.readFileSync(path.join(__dirname, "templates", "newsletter.pug"), "utf8");
const footer = fs.readFileSync(path.join(__dirname, "templates", "footer.txt"), "utf8");
const newsletter = pug.compile(template);

const app = express();
app.use(express.json({ limit: "1mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.post("/newsletters", async (req, res) => {
  const articles = req.body.articles.filter(Boolean).map(({ title, text }) => ({ title, text }));
  const html = newsletter({ articles, footer });
  res.type("html").send(html);
});

const server = app.listen(process.env.PORT || 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
