import express from "express";

const app = express();
const handler = (req, res) => {
  res.json({ query: req.query, at: "/" });
};
app.get("/", handler);
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
