export default { a: "one", b: "two" };
