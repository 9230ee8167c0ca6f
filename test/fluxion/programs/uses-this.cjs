const express = require("express");
const app = express();
const controller = {
  prefix: "item ",
  show(req, res) {
    res.send(`${controller.prefix}${this === undefined || this === globalThis}`);
  },
};
app.get("/", controller.show);
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
