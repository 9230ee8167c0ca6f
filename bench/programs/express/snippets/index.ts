import express from "express";
import { SnippetsController } from "./snippets.controller.js";
import { routes } from "./routing.js";

const app = express();
app.use(express.json({ limit: "1mb" }));
app.get("/health", (_req, res) => {
  res.json({ ok: true });
});

const snippets = new SnippetsController();
for (const { verb, path, method } of routes) {
  app[verb](path, snippets[method].bind(snippets));
}

const server = app.listen(process.env["PORT"] ?? 3000, () => {
  const address = server.address();
  console.log(`listening on http://localhost:${typeof address === "object" ? address?.port : address}`);
});
