import express from "express";
import { PagesController } from "./controllers/pages.controller.js";
import { PagesService } from "./services/pages.service.js";

const app = express();
const pages = new PagesController(new PagesService());

app.use(express.json({ limit: "1mb" }));
app.get("/health", (req, res) => {
  res.json({ ok: true });
});
app.post("/preview", pages.preview);
app.get("/pages", pages.list);

const server = app.listen(process.env.PORT ?? 3000, () => {
  console.log(`listening on http://localhost:${server.address().port}`);
});
