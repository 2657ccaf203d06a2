/** Calls a phone through a gateway, reads the alert twice, and takes the key that acknowledges it. */
import { voicePresets } from "../channels/gateway-rules.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { cutSpeech, toSpeech } from "../../core/text/speech.ts";
import { callPath } from "../records/links.ts";
import { formatSince, type Message } from "../sending/messages.ts";
import { failPermanently, type Provider } from "../provider.ts";
import {
  createReceipts,
  createRequestValues,
  createTokenValue,
  type GatewayChoice,
  sendThroughGateway,
} from "./gateway.ts";
import { voiceGateways } from "./voice-gateways.ts";

type Settings = ChannelSettings<"voice">;

/** The key that acknowledges an alert. */
export const acknowledgeKey = "4";

/** Maximum characters of a text, which takes about 40 s. */
const maxLength = 500;
/** Alerts of a digest that are read. */
const readAlerts = 3;

export const chooseVoiceGateway = ({ preset }: Settings): GatewayChoice =>
  preset === "custom"
    ? { type: "voice", name: "The gateway", gateway: null }
    : { type: "voice", name: voicePresets[preset].name, gateway: voiceGateways[preset] };

/** Makes one call per message. Without a public URL, keys can't be received. */
export const voice: Provider<"voice"> = {
  digests: true,
  receipts: createReceipts("voice", chooseVoiceGateway),
  async deliver(settings, message, context) {
    const choice = chooseVoiceGateway(settings);
    const { gateway } = choice;
    const takesKeys = gateway === null || gateway.call?.scriptType !== undefined;
    const { acknowledgeUrl } = message;
    const keyUrl =
      takesKeys && context.receivesCalls === true && acknowledgeUrl !== null
        ? `${acknowledgeUrl}${callPath}`
        : null;
    const text = renderSpeech(message, keyUrl !== null, gateway?.call?.maxLength ?? maxLength);
    const call = { text, language: settings.language, keyUrl };
    let token = {};
    try {
      token = createTokenValue(gateway, settings, context.now);
    } catch {
      return failPermanently("The private key can't be read.");
    }
    const script = gateway?.call?.script(call) ?? "";
    const { isFetched = false, scriptType: type = "text/plain" } = gateway?.call ?? {};
    const scriptUrl = isFetched ? context.urlOfScript?.({ type, script }) : "";
    if (scriptUrl === undefined)
      return failPermanently(
        `${choice.name} fetches the text of a call: “serve --public-url” must be an address that it can reach.`,
      );
    const values = {
      ...createRequestValues(settings, message.id, text),
      ...token,
      language: settings.language,
      callUrl: keyUrl ?? "",
      script,
      scriptUrl,
    };
    const verdict = await sendThroughGateway({ ...choice, settings, values }, context);
    const detail = `Accepted by the gateway, ${keyUrl === null ? "without" : "with"} a key to acknowledge.`;
    return verdict.outcome === "delivered" ? { ...verdict, detail } : verdict;
  },
};

/** Renders a message as spoken text: the event, its start, and the key. */
export function renderSpeech(message: Message, hasKey: boolean, maxCharacters = maxLength): string {
  const start = "Signalbox. ";
  const end = hasKey ? ` Press ${acknowledgeKey} to acknowledge.` : "";
  const content = toSpeech(composeCall(message));
  return `${start}${cutSpeech(content, maxCharacters - start.length - end.length)}${end}`;
}

function composeCall({ type, title, lines, facts, alerts, at }: Message): string {
  const [alert] = alerts;
  if (type === "digest" || alert === undefined)
    return [title, ...lines.slice(0, readAlerts)].join("\n");
  // A custom text replaces everything else.
  if (facts.length === 0) return lines.join("\n").trim() || title;
  // The reason of an outage is in other messages. Other alerts need their text.
  const texts = "monitor" in alert.data ? [] : facts.filter(({ label }) => label === "");
  return [`${title}${formatSince(alert.data, at)}`, ...texts.map(({ value }) => value)].join("\n");
}
