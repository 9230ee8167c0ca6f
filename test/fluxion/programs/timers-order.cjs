const order = [];
setTimeout(function later() {
  order.push("timeout");
  console.log(order.join(" "));
}, 30);
setImmediate(function soon() {
  order.push("immediate");
});
process.nextTick(function tick() {
  order.push("tick");
});
Promise.resolve().then(function micro() {
  order.push("micro");
});
