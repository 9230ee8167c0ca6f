// A server whose stages could move, but are too small to be worth it.
import express from "express";

const app = express();
let asked = 0;

function slug(text) {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[^a-z0-9]+/g, "-");
}

app.use(express.text({ type: "text/*" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.get("/count", (req, res) => {
  res.json({ rendered: asked });
});

app.post("/render", (req, res) => {
  asked += 1;
  const words = slug(req.body).split("-");
  res.json({ words: words.length, longest: Math.max(...words.map((word) => word.length)) });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
