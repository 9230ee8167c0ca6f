"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("mustache-express/package.json"));
require("mustache-express/test/mustache-express.js");
require("mustache-express/test/find-partials.js");
run();
