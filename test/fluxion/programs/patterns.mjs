import express from "express";

const app = express();
app.get(
  "/:id",
  function handler(
    { params: { id }, query: { a = "1", ...rest }, headers: { host: _host, ...others } },
    res,
  ) {
    const [first = "none", ...letters] = id;
    res.json({ first, letters, a, rest, agent: others["x-agent"] ?? null });
  },
);
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
