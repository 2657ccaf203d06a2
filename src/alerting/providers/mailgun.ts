import { origins } from "../channels/kinds/kind-schema.ts";
import { createHttpProvider, createStatusVerdict } from "../provider.ts";
import { encodeBasic, encodeForm } from "./formatting.ts";
import { renderShortMail } from "./mail-texts.ts";

const measureForm = (mail: object) => encodeForm({ ...mail }).body.length;

/**
 * Sends a mail without tracked links. 200 is success.
 * https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages/post-v3--domain-name--messages
 */
export const mailgun = createHttpProvider<"mailgun">({
  request({ apiKey, region, domain, from, to }, message) {
    const { headers, body } = encodeForm({
      from: `Signalbox <${from}>`,
      to: to.join(", "),
      subject: message.title,
      ...renderShortMail(message, measureForm),
      "o:tracking": "no",
      "h:Auto-Submitted": "auto-generated",
      "h:X-Signalbox-Delivery": message.id,
    });
    return {
      url: `${origins.mailgun[region]}/v3/${domain}/messages`,
      headers: { ...headers, Authorization: encodeBasic("api", apiKey) },
      body,
    };
  },
  judge: createStatusVerdict("Mailgun", {
    401: "the sending key is not valid for the domain, or the region is another one",
    404: "the domain does not exist in this region",
  }),
});
