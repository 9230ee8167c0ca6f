const { mark } = require("./mark.cjs");
const cache = { used: false };
exports.shout = (text) => text.toUpperCase() + mark(3);
exports.used = () => {
  cache.used = true;
};
