import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";

export const encodeTlv = (type: number, ...parts: readonly Uint8Array[]) => {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([type, value.length]), value]);
};

/** Type and value of each part; all are short. */
function parseParts(bytes: Buffer): { whole: Buffer; type: number; value: Buffer }[] {
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 2 + (bytes[at + 1] ?? 0);
    found.push({
      whole: bytes.subarray(at, end),
      type: bytes[at] ?? 0,
      value: bytes.subarray(at + 2, end),
    });
    at = end;
  }
  return found;
}

const zero = encodeTlv(2, Buffer.from([0]));

/** An agent of version 2c that returns this value or error for every object. */
export const createAgent =
  (value: Buffer, status = 0) =>
  (request: Buffer) => {
    const [version, community, pdu] = parseParts(parseParts(request)[0]?.value ?? Buffer.alloc(0));
    const [id, , , list] = parseParts(pdu?.value ?? Buffer.alloc(0));
    const [oid] = parseParts(
      parseParts(list?.value ?? Buffer.alloc(0))[0]?.value ?? Buffer.alloc(0),
    );
    if (!version || !community || !id || !oid) return null;
    const isKnown = community.value.toString() === canary;
    const error = encodeTlv(2, Buffer.from([isKnown ? status : 16]));
    const varbinds = encodeTlv(0x30, encodeTlv(0x30, oid.whole, value));
    return encodeTlv(
      0x30,
      version.whole,
      community.whole,
      encodeTlv(0xa2, id.whole, error, zero, varbinds),
    );
  };

const encodeOctetString = (value: string) => encodeTlv(4, Buffer.from(value));

export const snmp: Fake = {
  transport: "udp",
  fields: {
    community: canary,
    assertions: [{ source: "body", op: "equals", value: "fine" }],
  },
  serve: createAgent(encodeOctetString("fine")),
  up: "Read the object",
  details: { value: "fine" },
  refused: {
    fields: { community: "other" },
    message: "The device does not show the object to the user.",
  },
  wrong: [
    [createAgent(encodeTlv(0x80)), "The device has no such object."],
    [createAgent(encodeOctetString("fine"), 2), "The device has no such object."],
    [createAgent(encodeOctetString("fine"), 5), "The device responded with an error."],
    [
      createAgent(encodeOctetString("bad")),
      'The object was read, but assertion 1 failed: the body must be "fine".',
    ],
    [() => Buffer.from("HTTP/1.1 400 Bad Request"), "The response is not valid for SNMP."],
  ],
};
