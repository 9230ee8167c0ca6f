const { createHash } = require("node:crypto");
async function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}
async function main() {
  for (const text of process.argv.slice(2)) console.log(text, await digest(text));
  process.exitCode = process.argv.length;
}
main();
