import express from "express";

class NotFound extends Error {
  status = 404;
}
const app = express();
app.get("/:id", function handler(req, res) {
  if (req.params.id.length > 3) throw new NotFound(`no ${req.params.id}`);
  res.send(req.params.id);
});
app.use(function failed(err, req, res, next) {
  res.status(err instanceof NotFound ? err.status : 500).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
