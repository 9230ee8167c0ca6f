"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("express-less/package.json"));
require("express-less/test/test.js");
run();
