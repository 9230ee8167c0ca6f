"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("express-pug-static/package.json"));
require("express-pug-static/test/index.js");
run();
