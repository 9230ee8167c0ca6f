async function parse(text) {
  return JSON.parse(text);
}
async function main() {
  console.log(await parse('{"a":1}'));
  console.log(await parse("{"));
}
main();
