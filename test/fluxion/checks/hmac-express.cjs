"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("hmac-express/package.json"));
require("hmac-express/test/test.js");
run();
