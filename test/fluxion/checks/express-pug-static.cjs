"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("express-pug-static/package.json"));
require("express-pug-static/test/index.js");
// It compares the second before a request with the second in which it is answered.
run("should honor the maxAge option");
