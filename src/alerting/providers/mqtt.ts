import { connectToTarget } from "../../monitoring/checks/protocols/conversation.ts";
import {
  connectToBroker,
  encodePacket,
  encodeText,
  notMqttError,
  packetTypes,
  readPacket,
} from "../../monitoring/checks/protocols/mqtt.ts";
import { runWithTimeout } from "../../core/outgoing/http/exchange.ts";
import { createWire } from "../../core/outgoing/http/wire.ts";
import { delivered, type Provider } from "../provider.ts";
import { buildEvent } from "./formatting.ts";

/** QoS 1, in the flags of PUBLISH (§3.3.1). */
const confirmedFlag = 0x02;
const retainedFlag = 0x01;
const packetId = Buffer.from([0, 1]);

/**
 * Publishes a message, and waits until the broker confirms it with PUBACK.
 * https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html#_Toc398718037
 */
export const mqtt: Provider<"mqtt"> = {
  digests: true,
  deliver: (settings, message, context) =>
    runWithTimeout(context, async (outgoing) => {
      const connection = await connectToTarget(settings, outgoing);
      const wire = createWire(connection, outgoing);
      await connectToBroker(wire, settings);
      const flags = confirmedFlag | (settings.retain ? retainedFlag : 0);
      const payload = Buffer.from(JSON.stringify(buildEvent(message)));
      wire.write(
        encodePacket(packetTypes.publish, flags, encodeText(settings.topic), packetId, payload),
      );
      const { body } = await readPacket(wire, [packetTypes.puback]);
      if (!body.equals(packetId)) throw notMqttError();
      wire.write(encodePacket(packetTypes.disconnect, 0));
      wire.close();
      return delivered;
    }),
};
