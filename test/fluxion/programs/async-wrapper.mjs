import express from "express";
import asyncHandler from "express-async-handler";

const app = express();
app.get(
  "/",
  asyncHandler(async function handler(req, res) {
    if (req.query.by === "0") throw new Error("nothing");
    res.send(String(6 / Number(req.query.by)));
  }),
);
app.use(function failed(err, req, res, next) {
  res.status(500).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
