/** Sends short text messages through the HTTP interface of a gateway. */
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { smsPresets } from "../channels/gateway-rules.ts";
import { composeSms, measureSms, type SmsSize } from "../../core/text/sms.ts";
import { formatCount } from "../../core/text/formatting.ts";
import { formatSince, type Message } from "../sending/messages.ts";
import type { Provider } from "../provider.ts";
import {
  createReceipts,
  createRequestValues,
  type GatewayChoice,
  sendThroughGateway,
} from "./gateway.ts";
import { smsGateways } from "./sms-gateways.ts";

type Settings = ChannelSettings<"sms">;

const chooseGateway = ({ preset }: Settings): GatewayChoice =>
  preset === "custom"
    ? { type: "sms", name: "The gateway", gateway: null }
    : { type: "sms", name: smsPresets[preset].name, gateway: smsGateways[preset] };

/** Sends one request per message. A text that is too long is cut, but not its link. */
export const sms: Provider<"sms"> = {
  digests: true,
  receipts: createReceipts("sms", chooseGateway),
  async deliver(settings, message, context) {
    const text = renderSms(message, findMaxParts(settings));
    const size = measureSms(text);
    const { gateway, ...choice } = chooseGateway(settings);
    const code = size.encoding === "GSM-7" ? 0 : 1;
    const values = {
      ...createRequestValues(settings, message.id, text),
      unicode: size.encoding === "UCS-2",
      encoding: gateway?.encodings?.[code] ?? size.encoding,
    };
    const request = { ...choice, gateway, settings, values };
    const verdict = await sendThroughGateway(request, context);
    return verdict.outcome === "delivered" ? { ...verdict, detail: describeSize(size) } : verdict;
  },
};

function findMaxParts({ preset, maxParts }: Settings): number {
  const most = preset === "custom" ? undefined : smsGateways[preset].maxParts;
  return Math.min(maxParts, most ?? maxParts);
}

const describeSize = ({ encoding, parts, units }: SmsSize) =>
  `Accepted by the gateway: ${formatCount(parts)} ${parts === 1 ? "part" : "parts"}, ${formatCount(units)} characters in ${encoding}.`;

/** Renders a message as one text: what happened, since when, why, and the link. */
function renderSms(message: Message, maxParts: number): string {
  const { type, title, lines, facts, alerts, url, acknowledgeUrl } = message;
  const link =
    acknowledgeUrl === null ? { label: "", url } : { label: "Ack: ", url: acknowledgeUrl };
  const [alert] = alerts;
  if (type === "digest") return composeSms(title, `:\n${lines.join("\n")}`, link, maxParts);
  // A custom text replaces everything else.
  if (facts.length === 0) return composeSms(lines.join("\n").trim() || title, "", link, maxParts);
  const parts = facts
    .filter(({ label }) => label === "" || label === "Acknowledged by")
    .map(({ label, value }) => (label === "" ? value : `${label} ${value}.`))
    .filter((value) => value.trim() !== "");
  const since = alert === undefined ? "" : formatSince(alert.data, message.at);
  return composeSms(
    title,
    `${since}${parts.length > 0 ? ": " : ""}${parts.join(" ")}`,
    link,
    maxParts,
  );
}
