/** Packets of MQTT 3.1.1, and signing in to a broker. */
import { randomBytes } from "node:crypto";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { Wire } from "../../../core/outgoing/http/wire.ts";

/** Packet types: https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html */
export const packetTypes = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  subscribe: 8,
  suback: 9,
  disconnect: 14,
};

export const notMqttError = () => new TargetFailure("The response is not valid for MQTT.");

/** Failures by return code of CONNACK (§3.2.2.3). */
const refusals: Record<number, string> = {
  1: "The broker does not speak MQTT 3.1.1.",
  2: "The broker rejected the client identifier.",
  3: "The broker is not available.",
  4: "The broker rejected the user name or the password.",
  5: "The broker does not authorize the user.",
};

/** Failures by MQTT 5 reason code: https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901079 */
const refusalsOfMqtt5: Record<number, string> = {
  0x84: "The broker does not speak MQTT 3.1.1.",
  0x85: "The broker rejected the client identifier.",
  0x86: "The broker rejected the user name or the password.",
  0x87: "The broker does not authorize the user.",
  0x88: "The broker is not available.",
  0x89: "The broker is busy.",
  0x8a: "The broker has banned this client.",
};

/** Signs in to the broker. Throws TargetFailure with its reason. */
export async function connectToBroker(
  wire: Wire,
  { username, password }: { username: string | null; password: string | null },
) {
  const hasPassword = username !== null && password !== null;
  const cleanSession = 0x02;
  const flags = cleanSession | (username === null ? 0 : 0x80) | (hasPassword ? 0x40 : 0);
  // Keep-alive of 120 s, which is longer than any check.
  const protocol = Buffer.concat([encodeText("MQTT"), Buffer.from([4, flags, 0, 120])]);
  const client = encodeText(`signalbox-${randomBytes(6).toString("hex")}`);
  const parts = [username, hasPassword ? password : null].filter((part) => part !== null);
  wire.write(encodePacket(packetTypes.connect, 0, protocol, client, ...parts.map(encodeText)));
  const { type, body } = await readPacket(wire, [packetTypes.connack]);
  const code = body[1];
  if (type !== packetTypes.connack || code === undefined) throw notMqttError();
  // A broker that supports only MQTT 5 rejects in its own, longer format.
  if (code >= 0x80 && body.length >= 3)
    throw new TargetFailure(
      refusalsOfMqtt5[code] ?? "The broker supports only MQTT 5. Signalbox uses MQTT 3.1.1.",
    );
  if (body.length !== 2) throw notMqttError();
  if (code !== 0) throw new TargetFailure(refusals[code] ?? notMqttError().message);
}

/** Encodes a text of a packet, preceded by its length. */
export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

export function encodePacket(type: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length: number[] = [];
  let left = body.length;
  do {
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Buffer.concat([Buffer.from([(type << 4) | flags, ...length]), body]);
}

/** Reads a packet of one of these types. Throws TargetFailure for any other one. */
export async function readPacket(wire: Wire, types: readonly number[]) {
  const [first = 0] = await wire.read(1);
  const type = first >> 4;
  // Checked before the length, which is arbitrary data if the server speaks another protocol.
  // The flags of CONNACK and SUBACK are 0 (§2.2.2).
  if (!types.includes(type) || (type !== packetTypes.publish && (first & 0x0f) !== 0))
    throw notMqttError();
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const [byte = 0] = await wire.read(1);
    length |= (byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) break;
    if (shift === 21) throw notMqttError();
  }
  return { type, flags: first & 0x0f, body: await wire.read(length) };
}
