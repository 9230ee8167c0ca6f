"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("body-parser-xml/package.json"));
require("body-parser-xml/test.js");
run();
