import { createHmac } from "node:crypto";
import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import { countBytes, renderText } from "./formatting.ts";

// The documented limit is 20,000 bytes.
const maxBytes = 18_000;

/**
 * Sends plain text; mentions need a field of their own. Code 0 is success.
 * https://open.dingtalk.com/document/robots/custom-robot-access and, for the signature,
 * https://open.dingtalk.com/document/robots/customize-robot-security-settings
 */
export const dingtalk = createHttpProvider<"dingtalk">({
  request({ webhookUrl, secret }, message, now) {
    const url = new URL(webhookUrl);
    if (secret !== null) {
      url.searchParams.set("timestamp", String(now));
      const sign = createHmac("sha256", secret).update(`${now}\n${secret}`).digest("base64");
      url.searchParams.set("sign", sign);
    }
    const content = renderText(message, maxBytes, {
      title: (title) => `Signalbox: ${title}`,
      sizeOf: countBytes,
    });
    return { url: url.href, body: { msgtype: "text", text: { content } } };
  },
  judge: createCodeVerdict({
    service: "DingTalk",
    field: "errcode",
    accepted: 0,
    reasons: {
      300005: "the webhook's address is not valid",
      310000:
        "the robot's security settings reject the message: check secret, keywords and addresses",
      400013: "the group was dissolved",
      400101: "the webhook's address is not valid",
      400102: "the robot is disabled",
    },
    busy: [-1, 410100, 130101],
  }),
});
