const express = require("express");
const app = express();
app.get("/", function handler(req, res) {
  res
    .status(202)
    .set({ "x-a": "1", "x-b": "2" })
    .cookie("c", "d", { httpOnly: true })
    .vary("Accept")
    .json({ done: [true, null] });
});
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
