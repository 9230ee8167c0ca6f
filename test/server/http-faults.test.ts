import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { dial, exchange, firstReply, posting } from "./raw.js";
import { type Reply, unharmed } from "./town.js";

/**
 * Bad input and intruders over HTTP. Each gets an error with a code and changes nothing, while an honest client goes on
 * (`unharmed`). All requests that are refused would bump the counter "attacked" if they were not.
 */

function isRefused({ status, code, error }: Reply, expectedStatus: number, expectedCode: string): void {
  assert.deepEqual([status, code], [expectedStatus, expectedCode], error?.message);
  assert.ok(error?.message?.startsWith(`${expectedCode}: `), error?.message);
}

test("a body that is too large is refused, whether its length is announced or not", async (t) => {
  await unharmed(t, { limits: { bodyBytes: 1000 } }, async ({ server }) => {
    const body = `["attacked", 1, "${"x".repeat(1000)}"]`;
    isRefused(await exchange(t, server.port, posting("bump", body)), 413, "HW-4006");
    const head =
      "POST /api/bump HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    isRefused(await exchange(t, server.port, head + chunk), 413, "HW-4006");
  });
});

test("a body without end is refused, and then cut off", async (t) => {
  await unharmed(t, { limits: { bodyBytes: 1000 } }, async ({ server }) => {
    const socket = dial(t, server.port);
    socket.write(
      "POST /api/bump HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n",
    );
    isRefused(await firstReply(socket), 413, "HW-4006");
    const endless = dial(t, server.port);
    endless.resume();
    endless.write(
      "POST /api/bump HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n",
    );
    const chunk = Buffer.alloc(64 * 1024, " ");
    while (!endless.destroyed) {
      if (!endless.write(chunk))
        await new Promise((resolve) => endless.once("drain", resolve).once("close", resolve));
    }
  });
});

test("a compressed body is refused unopened, so none can be a bomb", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, " "));
    assert.ok(bomb.length < 100_000);
    for (const encoding of ["gzip", "br", "deflate", "gzip, gzip"]) {
      const request = posting("bump", bomb, [`content-encoding: ${encoding}`]);
      isRefused(await exchange(t, server.port, request), 415, "HW-4009");
    }
  });
});

test("a body of another type is refused", async (t) => {
  await unharmed(t, {}, async ({ post }) => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-16",
      "",
    ]) {
      isRefused(await post("bump", ["attacked", 1], { "content-type": type }), 415, "HW-4009");
    }
  });
});

test("headers that trickle in are given up", async (t) => {
  await unharmed(t, { limits: { headersMs: 50 } }, async ({ server }) => {
    const socket = dial(t, server.port);
    socket.write("POST /api/bump HTTP/1.1\r\nhost: x\r\n");
    const trickle = setInterval(() => socket.write("x: y\r\n"), 5);
    const reply = await firstReply(socket);
    clearInterval(trickle);
    isRefused(reply, 408, "HW-4008");
  });
});

test("a body that trickles in is given up", async (t) => {
  await unharmed(t, { limits: { headersMs: 20, requestMs: 60 } }, async ({ server }) => {
    const socket = dial(t, server.port);
    socket.write(posting("bump", '["attacked", 1]').subarray(0, -10));
    const trickle = setInterval(() => socket.write(" "), 20);
    const reply = await firstReply(socket);
    clearInterval(trickle);
    isRefused(reply, 408, "HW-4008");
  });
});

test("lengths that contradict each other are refused", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const body = '["attacked", 1]';
    const conflicting = [
      ["content-length: 15", "content-length: 16"],
      ["content-length: 15", "transfer-encoding: chunked"],
      ["transfer-encoding: chunked", "content-length: 15"],
      ["content-length: -1"],
      ["content-length: 15, 15"],
      ["transfer-encoding: chunked, identity"],
    ];
    for (const lines of conflicting) {
      const head = ["POST /api/bump HTTP/1.1", "host: x", "content-type: application/json", ...lines].join(
        "\r\n",
      );
      const request = `${head}\r\n\r\n${body}`;
      isRefused(await exchange(t, server.port, request), 400, "HW-4005");
    }
  });
});

test("ten thousand headers are refused", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const many = Array.from({ length: 10_000 }, (_, i) => `h${i}: ${i}`);
    isRefused(await exchange(t, server.port, posting("bump", '["attacked", 1]', many)), 431, "HW-4006");
    const long = [`x: ${"y".repeat(20_000)}`];
    isRefused(await exchange(t, server.port, posting("bump", '["attacked", 1]', long)), 431, "HW-4006");
  });
});

test("text that is not UTF-8, and halves of surrogate pairs, are refused", async (t) => {
  await unharmed(t, {}, async ({ server, post }) => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('["attacked", 1, "'), Buffer.from(bytes), Buffer.from('"]')]);
      isRefused(await exchange(t, server.port, posting("bump", body)), 400, "HW-4007");
    }
    for (const text of ['"\\ud800"', '"\\udc00x"', '{"\\ud800": 1}']) {
      isRefused(await post("bump", `["attacked", 1, ${text}]`), 400, "HW-4007");
    }
    assert.equal((await post("echo", '["\\ud83c\\udfb2"]')).value, "🎲");
  });
});

test("JSON a hundred thousand deep is refused", async (t) => {
  await unharmed(t, {}, async ({ post }) => {
    const deep = 100_000;
    isRefused(await post("bump", `["attacked", 1, ${"[".repeat(deep)}${"]".repeat(deep)}]`), 400, "HW-4007");
    isRefused(
      await post("bump", `["attacked", 1, ${'{"a":'.repeat(deep)}1${"}".repeat(deep)}]`),
      400,
      "HW-4007",
    );
    isRefused(await post("bump", "[".repeat(deep)), 400, "HW-4007");
    assert.equal(
      (await post("echo", '["[[[[{{{{\\"[[["]')).value,
      '[[[[{{{{"[[[',
      "brackets in a text do not count",
    );
  });
});

test("names that lead to prototypes are refused, however they are spelled", async (t) => {
  await unharmed(t, {}, async ({ post }) => {
    for (const name of ["__proto__", "constructor", "prototype", "\\u005f_proto__"]) {
      const reply = await post("bump", `["attacked", 1, {"a": [{"${name}": {"polluted": 1}}]}]`);
      isRefused(reply, 400, "HW-4007");
    }
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  });
});

test("an object with the same name twice is refused", async (t) => {
  await unharmed(t, {}, async ({ post }) => {
    isRefused(await post("bump", '["attacked", 1, {"by": 1, "by": 2}]'), 400, "HW-4007");
    isRefused(await post("bump", '["attacked", 1, [{"x": {"a": {}, "\\u0061": {}}}]]'), 400, "HW-4007");
    isRefused(await post("bump", '["attacked", 1, {"$map": [["a", 1], ["a", 2]]}]'), 400, "HW-4007");
    const fine = [{ a: { a: 1, b: [{ a: 2 }, { a: 3 }] }, b: "a" }];
    assert.deepEqual((await post("echo", fine)).value, fine[0]);
  });
});

test("numbers that JavaScript cannot keep are refused; -0 is kept", async (t) => {
  await unharmed(t, {}, async ({ post }) => {
    for (const number of [
      "9007199254740992",
      "-9007199254740993",
      "1e400",
      "-1e400",
      "123456789012345678901234567890",
    ]) {
      isRefused(await post("bump", `["attacked", ${number}]`), 400, "HW-4007");
    }
    for (const number of ["NaN", "Infinity", "0x10", "01", "+1", ".5"]) {
      isRefused(await post("bump", `["attacked", ${number}]`), 400, "HW-4005");
    }
    assert.deepEqual((await post("echo", "[-0]")).value, { $number: "-0" });
    assert.deepEqual((await post("echo", "[9007199254740991, 1e22, 0.1]")).value, 9007199254740991);
  });
});

test("what is not a list of arguments in JSON is refused", async (t) => {
  await unharmed(t, {}, async ({ post }) => {
    for (const body of [
      "",
      "{",
      '{"0": "attacked"}',
      '"attacked"',
      "null",
      "[1] [2]",
      '["attacked" 1]',
      "[1,]",
    ]) {
      isRefused(await post("bump", body), 400, "HW-4005");
    }
    isRefused(await post("bump", ["attacked", 1, ...Array(100).fill(0)]), 400, "HW-4005");
  });
});

test("paths that try to leave the API lead nowhere", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    const paths = [
      "/api/../api/bump",
      "/api/%62ump",
      "/api/..%2f..%2fetc%2fpasswd",
      "/api//bump",
      "/api/bump/",
      "/api/__proto__",
      "/api/constructor",
      "/api/hasOwnProperty",
      "/api/",
      "/API/bump",
      "//api/bump",
      "http://127.0.0.1/api/bump",
    ];
    for (const path of paths) {
      const request = posting("bump", '["attacked", 1]').toString().replace("/api/bump", path);
      isRefused(await exchange(t, server.port, request), 404, "HW-4004");
    }
    for (const method of ["GET", "PUT", "DELETE"]) {
      const request = posting("bump", '["attacked", 1]').toString().replace("POST", method);
      isRefused(await exchange(t, server.port, request), 400, "HW-4005");
    }
  });
});

test("line breaks from outside never reach a log, and a message never repeats them either", async (t) => {
  await unharmed(t, {}, async ({ server, log, client }) => {
    const inPath = `/api/x%0d%0arefused${String.fromCharCode(0x1b)}[2Jnothing`;
    await exchange(t, server.port, `POST ${inPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`).catch(
      () => {},
    );
    isRefused(
      await exchange(t, server.port, "POST /api/x\u0085y HTTP/1.1\r\nhost: x\r\n\r\n"),
      400,
      "HW-4005",
    );
    const { api } = client();
    const functions = api as unknown as Record<string, () => Promise<unknown>>;
    const asked = functions["no\r\nsuch\u2028function\u001b[2J"]?.() ?? Promise.resolve();
    await assert.rejects(asked, (error: Error) => {
      assert.match(error.message, /^[\x20-\x7e…]+$/);
      return true;
    });
    assert.ok(log.length > 0);
    for (const line of log) assert.match(line, /^[\x20-\x7e…]+$/);
  });
});

test("a page of a foreign origin is refused, also when its name leads to this machine", async (t) => {
  await unharmed(t, { origins: ["https://example.org"] }, async ({ server, post }) => {
    const own = `127.0.0.1:${server.port}`;
    const foreign = [
      ["https://evil.example", own],
      ["null", own],
      ["http://example.org", own],
      ["https://example.org.evil.example", own],
      ["http://127.0.0.1:1", own],
      [`http://evil.example:${server.port}`, `evil.example:${server.port}`], // DNS rebinding
    ];
    for (const [origin, host] of foreign) {
      const request = posting("bump", '["attacked", 1]', [`origin: ${origin}`])
        .toString()
        .replace("host: 127.0.0.1", `host: ${host}`);
      isRefused(await exchange(t, server.port, request), 403, "HW-4012");
    }
    assert.equal((await post("echo", [1], { origin: server.url })).value, 1);
  });
});

test("bytes that are not HTTP are refused", async (t) => {
  await unharmed(t, {}, async ({ server }) => {
    for (const bytes of [
      "\x16\x03\x01\x02\x00\x01",
      "HELLO\r\n\r\n",
      "POST /api/bump HTTP/9.9\r\n\r\n",
      "GET  / HTTP/1.1\r\n\r\n",
    ]) {
      isRefused(await exchange(t, server.port, bytes), 400, "HW-4005");
    }
    const bare = "POST /api/bump HTTP/1.1\nhost: x\ncontent-type: application/json\ncontent-length: 15\n\n";
    const text = exchange(t, server.port, `${bare}["attacked", 1]`);
    isRefused(await text, 400, "HW-4005");
  });
});

test("connections beyond the limit are refused, and there is room again when others have gone", async (t) => {
  await unharmed(t, { limits: { connections: 3 } }, async ({ server }) => {
    const [first, second] = [dial(t, server.port), dial(t, server.port)];
    await Promise.all([once(first, "connect"), once(second, "connect")]);
    const refused = await firstReply(dial(t, server.port));
    isRefused(refused, 503, "HW-4013");
    first.destroy();
    for (;;) {
      const reply = await exchange(t, server.port, posting("echo", "[1]")).catch(() => null);
      if (reply?.status === 200) return;
    }
  });
});

test("a caller that never reads its reply is cut off", async (t) => {
  await unharmed(t, { limits: { stallMs: 50 } }, async ({ server }) => {
    const socket = dial(t, server.port);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.pause();
    const big = posting("echo", JSON.stringify(["x".repeat(900_000)]));
    socket.write(Buffer.concat(Array.from({ length: 10 }, () => big)));
    // One who does not read learns that it was cut off when it writes.
    const poke = setInterval(() => socket.write(" "), 5);
    await closed;
    clearInterval(poke);
  });
});
