const express = require("express4");
const path = require("node:path");
const pugStatic = require("express-pug-static");

const app = express();
app.use(
  pugStatic({
    baseDir: path.join(__dirname, "files"),
    baseUrl: "/pages",
    pug: { pretty: true, cache: false },
  }),
);
app.use((req, res) => {
  res.removeHeader("Expires");
  res.status(404).send("nothing");
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
