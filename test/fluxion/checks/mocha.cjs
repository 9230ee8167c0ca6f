"use strict";
const { dirname } = require("node:path");
const { Mocha } = require("mocha");

/** Runs the checks that a published package brings along, in the folder that they expect. */
const mocha = new Mocha({ timeout: 20000 });

exports.begin = (manifest) => {
  process.chdir(dirname(manifest));
  mocha.suite.emit("pre-require", globalThis, null, mocha);
};

/** `except`: a check that is left out, because the package itself does not always pass it. */
exports.run = (except) => {
  if (except !== undefined) mocha.grep(except).invert();
  mocha
    .reporter(class {})
    .run((failures) => {
      process.exitCode = failures;
    })
    .on("pass", (test) => console.log(`passes: ${test.fullTitle()}`))
    .on("fail", (test) => console.log(`fails: ${test.fullTitle()}`));
};
