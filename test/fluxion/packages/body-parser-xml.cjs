const express = require("express4");
const bodyParser = require("body-parser");
require("body-parser-xml")(bodyParser);

const app = express();
app.use(
  bodyParser.xml({ limit: "1kb", xmlParseOptions: { normalize: true, explicitArray: false }, type: "*/*" }),
);
app.post("/", (req, res) => {
  res.json(req.body);
});
app.use((err, req, res, next) => {
  res.status(err.status || 500).send(err.message);
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
