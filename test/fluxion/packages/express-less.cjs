const express = require("express");
const expressLess = require("express-less");

const app = express();
app.use(expressLess(`${__dirname}/files`, { compress: true }));
app.use((req, res) => res.status(404).send("no such page"));
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
