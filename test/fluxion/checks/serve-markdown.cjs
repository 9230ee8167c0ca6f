"use strict";
const { begin, run } = require("./mocha.cjs");

begin(require.resolve("serve-markdown/package.json"));
require("should");
require("serve-markdown/test/test.js");
run();
