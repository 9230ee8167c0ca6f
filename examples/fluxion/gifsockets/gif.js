// As much of GIF89a as an endless picture in two colours needs.

function header(width, height) {
  return Buffer.from([
    ...Buffer.from("GIF89a"),
    ...word(width),
    ...word(height),
    0x80, // two colours: paper and ink
    0,
    0,
    ...[0xff, 0xff, 0xff],
    ...[0x00, 0x00, 0x00],
  ]);
}

function frameOf(width, height, pixels) {
  const control = [0x21, 0xf9, 4, 4, ...word(10), 0, 0];
  const place = [0x2c, ...word(0), ...word(0), ...word(width), ...word(height), 0];
  const data = compressed(pixels, 2);
  const blocks = [];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.slice(at, at + 255);
    blocks.push(block.length, ...block);
  }
  return Buffer.from([...control, ...place, 2, ...blocks, 0]);
}

function trailer() {
  return Buffer.from([0x3b]);
}

/** The LZW of GIF: codes of growing size for ever longer runs of pixels. */
function compressed(pixels, depth) {
  const clear = 1 << depth;
  const end = clear + 1;
  const bytes = [];
  let [bits, filled, size] = [0, 0, depth + 1];
  let [known, next] = [new Map(), end + 1];
  const write = (code) => {
    bits |= code << filled;
    filled += size;
    while (filled >= 8) {
      bytes.push(bits & 0xff);
      bits >>>= 8;
      filled -= 8;
    }
  };
  write(clear);
  let run = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = run * 256 + pixels[i];
    const code = known.get(key);
    if (code !== undefined) {
      run = code;
      continue;
    }
    write(run);
    known.set(key, next);
    if (next === 1 << size) size += 1;
    next += 1;
    if (next === 4096) {
      write(clear);
      [known, next, size] = [new Map(), end + 1, depth + 1];
    }
    run = pixels[i];
  }
  write(run);
  write(end);
  if (filled > 0) bytes.push(bits & 0xff);
  return bytes;
}

function word(n) {
  return [n & 0xff, n >> 8];
}

module.exports = { frameOf, header, trailer };
