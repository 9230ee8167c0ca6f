import express from "express";
import { marked } from "marked";

const app = express();
app.use(express.json({ limit: "1mb" }));

app.get("/health", (req, res) => {
  res.json({ ok: true });
});

app.post("/articles", async (req, res) => {
  const { title, body } = req.body;
  const html = await marked.parse(body, { gfm: true });
  res.json({ title, html });
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
