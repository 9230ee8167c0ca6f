const { PNG } = require("pngjs");

function thumbnail(bytes, width) {
  const source = PNG.sync.read(bytes);
  const height = Math.max(1, Math.round((source.height * width) / source.width));
  const target = new PNG({ width, height });
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const fromX = Math.floor((x * source.width) / width);
      const fromY = Math.floor((y * source.height) / height);
      const from = (fromY * source.width + fromX) * 4;
      const to = (y * width + x) * 4;
      for (let i = 0; i < 4; i++) target.data[to + i] = source.data[from + i];
    }
  }
  return PNG.sync.write(target);
}

module.exports = { thumbnail };
