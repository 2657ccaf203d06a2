import { canary } from "../samples.ts";
import type { Fake } from "./fake.ts";

export const tlv = (type: number, ...parts: readonly Uint8Array[]) => {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([type, value.length]), value]);
};

/** Type and value of each part; all are short. */
function parts(bytes: Buffer): { whole: Buffer; type: number; value: Buffer }[] {
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

const zero = tlv(2, Buffer.from([0]));

/** An agent of version 2c that returns this value or error for every object. */
export const agent =
  (value: Buffer, status = 0) =>
  (request: Buffer) => {
    const [version, community, pdu] = parts(parts(request)[0]?.value ?? Buffer.alloc(0));
    const [id, , , list] = parts(pdu?.value ?? Buffer.alloc(0));
    const [oid] = parts(parts(list?.value ?? Buffer.alloc(0))[0]?.value ?? Buffer.alloc(0));
    if (!version || !community || !id || !oid) return null;
    const isKnown = community.value.toString() === canary;
    const error = tlv(2, Buffer.from([isKnown ? status : 16]));
    const varbinds = tlv(0x30, tlv(0x30, oid.whole, value));
    return tlv(0x30, version.whole, community.whole, tlv(0xa2, id.whole, error, zero, varbinds));
  };

const text = (value: string) => tlv(4, Buffer.from(value));

export const snmp: Fake = {
  over: "udp",
  fields: {
    community: canary,
    assertions: [{ source: "body", op: "equals", value: "fine" }],
  },
  answers: agent(text("fine")),
  up: "Read the object",
  details: { value: "fine" },
  refused: {
    fields: { community: "other" },
    message: "The device does not show the object to the user.",
  },
  wrong: [
    [agent(tlv(0x80)), "The device has no such object."],
    [agent(text("fine"), 2), "The device has no such object."],
    [agent(text("fine"), 5), "The device answered with an error."],
    [agent(text("bad")), 'The object was read, but assertion 1 failed: the body must be "fine".'],
    [() => Buffer.from("HTTP/1.1 400 Bad Request"), "The answer is not valid for SNMP."],
  ],
};
