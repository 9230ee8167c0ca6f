// examples/fluxion/markdown-server with its heavy stage moved by hand into piscina.
import express from "express";
import Piscina from "piscina";
import { page } from "../../examples/fluxion/markdown-server/page.js";

const pool = new Piscina({
  filename: new URL("./markdown-worker.js", import.meta.url).href,
  maxThreads: Number(process.env.THREADS),
  minThreads: Number(process.env.THREADS),
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

app.post("/render", async (req, res) => {
  if (typeof req.body !== "string" || req.body === "") {
    return res.status(400).send("Send some Markdown.");
  }
  rendered += 1;
  const html = await pool.run(req.body);
  res.type("html").send(page(html));
});

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
