async function squares(n) {
  return Array.from({ length: n }, (_, i) => i * i);
}
const made = await squares(5);
console.log(made, import.meta.url.endsWith("top-level-await.mjs"));
