import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";

import { isLink, unpack } from "../../../assets/lib/run/link.mjs";

const pack = (text) => "#s=" + deflateSync(Buffer.from(text)).toString("base64url");

test("a link comes back as what was packed", async () => {
  const content = { v: 1, scenario: { seed: 7, requests: [{ source: ["été", "😀"] }] }, log: [{ command: { kind: "step" }, times: 3 }], view: { head: 2 } };
  assert.deepEqual(await unpack(pack(JSON.stringify(content))), content);
});

test("only a fragment that begins as a link is one", () => {
  assert.deepEqual([isLink("#s=abc"), isLink("#stage"), isLink("")], [true, false, false]);
});

for (const [what, fragment] of [
  ["cut short", pack(JSON.stringify({ scenario: {} })).slice(0, -8)],
  ["not base64", "#s=%%%"],
  ["not deflated", "#s=" + Buffer.from("hello").toString("base64url")],
  ["not JSON", pack("hello")],
  ["without a scenario", pack("{}")],
  ["not an object", pack("[1]")],
  ["nothing", pack("null")],
  ["not UTF-8", "#s=" + deflateSync(Buffer.concat([Buffer.from('{"scenario":{"x":"'), Buffer.from([0xff]), Buffer.from('"}}')])).toString("base64url")],
  ["two megabytes once unpacked", pack(JSON.stringify({ scenario: "x".repeat(2 << 20) }))],
])
  test(`a link that is ${what} is refused in words`, async () => {
    await assert.rejects(unpack(fragment), /^Error: This link cannot be read.* start from an example\.$/);
  });

test("a link of a newer version is refused with both versions; one that names none is read", async () => {
  for (const content of [{ v: 2, scenario: {} }, { v: 1, scenario: { version: 2 } }]) await assert.rejects(unpack(pack(JSON.stringify(content))), /it has version 2, this page reads version 1/);
  for (const content of [{ scenario: {} }, { v: 1, scenario: { version: 1 } }]) assert.deepEqual(await unpack(pack(JSON.stringify(content))), content);
});
