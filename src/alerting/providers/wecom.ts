import { createCodeVerdict, createHttpProvider } from "../provider.ts";
import { countBytes, renderText } from "./formatting.ts";

/**
 * Sends plain text of at most 2,048 bytes; mentions need a field of their own. Code 0 is success.
 * https://developer.work.weixin.qq.com/document/path/91770 and, for codes, path/90313
 */
export const wecom = createHttpProvider<"wecom">({
  request: ({ webhookUrl }, message) => ({
    url: webhookUrl,
    body: {
      msgtype: "text",
      text: { content: renderText(message, 2_048, { sizeOf: countBytes }) },
    },
  }),
  judge: createCodeVerdict({
    service: "WeCom",
    field: "errcode",
    accepted: 0,
    reasons: { 93000: "the webhook's address is not valid" },
    busy: [-1, 45009, 45033],
  }),
});
