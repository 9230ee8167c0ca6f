import express from "express";

const LEVELS = { low: 1, middle: 10, high: 100 } as const;
const NAMES: readonly string[] = ["low", "middle", "high"];
const app = express();
app.get("/", function handler(_req, res) {
  res.json(NAMES.map((name) => LEVELS[name as keyof typeof LEVELS] * 2));
});
const server = app.listen(0, () =>
  console.log(`listening on ${(server.address() as { port: number }).port}`),
);
