const express = require("express");
const sitemap = require("express-simple-sitemap");

const urls = Array.from({ length: 3000 }, (_, i) => ({
  url: `https://example.org/pages/${i}`,
  priority: (i % 10) / 10,
  changefreq: i % 3 === 0 ? "daily" : "sometimes",
}));
const app = express();
app.use(sitemap({ urls: [...urls, { lastmod: "never" }] }));
app.get("/sitemap.xml", () => {}); // the package goes on when it has answered
app.get("/", (req, res) => res.send("home"));
const server = app.listen(0, () => console.log(`listening on ${server.address().port}`));
