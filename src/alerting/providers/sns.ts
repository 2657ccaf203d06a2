/** Publishes alerts to a topic of Amazon SNS. */
import { createLookup } from "../../core/collections/objects.ts";
import { createHttpProvider, failPermanently, judgeStatus } from "../provider.ts";
import { findSnsOrigin } from "../channels/kinds/programs-schema.ts";
import type { Message } from "../sending/messages.ts";
import { encodeForm, renderText } from "./formatting.ts";

/**
 * Publishes to a topic, signed with Signature Version 4. FIFO topics drop a repeated message.
 * https://docs.aws.amazon.com/sns/latest/api/API_Publish.html
 */
export const sns = createHttpProvider<"sns">({
  async request({ topicArn, accessKeyId, secretAccessKey }, message, now) {
    const { AwsV4Signer } = await import("aws4fetch");
    const { body, headers } = encodeForm(listParameters(topicArn, message));
    const signer = new AwsV4Signer({
      method: "POST",
      url: `${findSnsOrigin(topicArn)}/`,
      headers,
      body,
      accessKeyId,
      secretAccessKey,
      service: "sns",
      region: topicArn.split(":")[3] ?? "",
      datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ""),
    });
    const signed = await signer.sign();
    return { url: signed.url.href, headers: Object.fromEntries(signed.headers), body };
  },
  judge(response) {
    const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(response.body) ?? [];
    return response.status >= 400 && Object.hasOwn(reasons, code)
      ? failPermanently(`AWS SNS reports that ${reasons[code]}.`)
      : judgeStatus(response);
  },
});

function listParameters(topicArn: string, message: Message): Record<string, string> {
  const attributes = Object.entries({ type: message.type, severity: message.severity });
  const sizeOf = (text: string) => encodeForm({ text }).body.length;
  return {
    Action: "Publish",
    Version: "2010-03-31",
    TopicArn: topicArn,
    // ASCII of at most 100 characters.
    Subject: message.title.replace(/[^ -~]+/g, "?").slice(0, 100),
    Message: renderText(message, 18_000, { sizeOf }),
    ...Object.fromEntries(
      attributes.flatMap(([name, value], index) => {
        const entry = `MessageAttributes.entry.${index + 1}`;
        return [
          [`${entry}.Name`, name],
          [`${entry}.Value.DataType`, "String"],
          [`${entry}.Value.StringValue`, value],
        ];
      }),
    ),
    ...(topicArn.endsWith(".fifo") && {
      MessageGroupId: message.problem?.key ?? "signalbox",
      MessageDeduplicationId: message.id,
    }),
  };
}

const reasons: Readonly<Record<string, string>> = createLookup({
  InvalidClientTokenId: "the access key is not valid",
  SignatureDoesNotMatch: "the secret access key is not valid",
  AuthorizationError: "the access key must not publish to the topic",
  NotFound: "the topic does not exist",
  OptInRequired: "the account has no subscription for SNS",
});
