/** Data types of SSH: https://www.rfc-editor.org/rfc/rfc4251#section-5 */

export function encodeUint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function encodeString(value: string | Buffer): Buffer {
  const bytes = typeof value === "string" ? Buffer.from(value, "latin1") : value;
  return Buffer.concat([encodeUint32(bytes.length), bytes]);
}

export function encodeMpint(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return encodeString((bytes[0] ?? 0) > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export const toUnsigned = (bytes: Buffer) => BigInt(`0x0${bytes.toString("hex")}`);
