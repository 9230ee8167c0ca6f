const express = require("express4");
const xmlparser = require("express-xml-bodyparser");

const app = express();
app.use((req, res, next) => {
  req.headers["content-type"] = "application/xml";
  next();
});
app.post("/", xmlparser({ trim: false, explicitArray: false }), (req, res) => {
  res.json({ body: req.body, raw: req.rawBody });
});
app.use((err, req, res, next) => {
  res.status(err.status || 500).send(err.message.split("\n")[0]);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
