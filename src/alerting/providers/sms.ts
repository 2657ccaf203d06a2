/** Sends short text messages through the HTTP interface of a gateway. */
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { findPreset, smsPresets, type SmsPlaceholder } from "../channels/gateway-rules.ts";
import type { ShortAnswer } from "../../core/outgoing/http/exchange.ts";
import { formatStatus } from "../../core/outgoing/http/response.ts";
import { parseJsonOrNull } from "../../core/collections/objects.ts";
import { fillJson, fillPlaceholders, fillUrl } from "../../core/text/placeholders.ts";
import { composeSms, measureSms, type SmsEncoding, type SmsSize } from "../../core/text/sms.ts";
import { formatCount } from "../../core/text/formatting.ts";
import { buildConditions, isFulfilled } from "../../monitoring/checks/protocols/assertions.ts";
import { findValue } from "../../monitoring/checks/protocols/json-path.ts";
import type { Message } from "../sending/messages.ts";
import {
  delivered,
  failFinally,
  failPermanently,
  failTemporarily,
  judgeStatus,
  type Provider,
  type ProviderRequest,
  sendProviderRequest,
  type Verdict,
} from "../provider.ts";
import { joinUrl } from "./formatting.ts";
import { type Rejection, smsGateways } from "./sms-gateways.ts";

type Settings = ChannelSettings<"sms">;

/** Sends one request per message. A text that is too long is cut, but not its link. */
export const sms: Provider<"sms"> = {
  digests: true,
  async deliver(settings, message, context) {
    const text = renderSms(message, findMaxParts(settings));
    const size = measureSms(text);
    const request = buildSmsRequest(settings, text, size.encoding, message.id);
    if (request === null) return failFinally("The account leads to another URL of the gateway.");
    const verdict = await sendProviderRequest(request, context, (answer) =>
      judgeSmsResponse(settings, answer),
    );
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
export function renderSms(message: Message, maxParts: number): string {
  const { type, title, lines, facts, alerts, url, acknowledgeUrl } = message;
  const link =
    acknowledgeUrl === null ? { label: "", url } : { label: "Ack: ", url: acknowledgeUrl };
  const [alert] = alerts;
  if (type === "digest") return composeSms(title, `:\n${lines.join("\n")}`, link, maxParts);
  // A custom text replaces everything else.
  if (facts.length === 0) return composeSms(lines.join("\n").trim() || title, "", link, maxParts);
  const told = facts
    .filter(({ label }) => label === "" || label === "Acknowledged by")
    .map(({ label, value }) => (label === "" ? value : `${label} ${value}.`))
    .filter((value) => value.trim() !== "");
  const since = alert === undefined ? "" : formatSince(alert.data, message.at);
  return composeSms(
    title,
    `${since}${told.length > 0 ? ": " : ""}${told.join(" ")}`,
    link,
    maxParts,
  );
}

/** Formats the start of a monitor's state, with its date unless it is that of the message. */
function formatSince(data: Message["alerts"][number]["data"], at: string): string {
  if (!("monitor" in data) || "expiresAt" in data) return "";
  const { since } = data;
  const date = since.slice(0, 10) === at.slice(0, 10) ? "" : `${since.slice(0, 10)} `;
  return ` since ${date}${since.slice(11, 16)} UTC`;
}

const contentTypes = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  text: "text/plain; charset=utf-8",
};

/** Builds the request of a gateway; null if a value would change the folder of its URL. */
function buildSmsRequest(
  settings: Settings,
  text: string,
  encoding: SmsEncoding,
  id: string,
): ProviderRequest | null {
  const { method, url, headers, bodyType, body, encodings } = describeRequest(settings);
  const values = { ...listValues(settings, text, encoding, id), encoding: encodings(encoding) };
  const valueOf = (name: string) => values[name as keyof typeof values] ?? "";
  const address = fillUrl(url, "", valueOf);
  if (address === null) return null;
  const filled = Object.entries(headers).map(([name, value]) => [
    /^content-type$/i.test(name) ? "Content-Type" : name,
    fillPlaceholders(value, valueOf),
  ]);
  return {
    url: address.href,
    method,
    headers: {
      ...(body !== null && { "Content-Type": contentTypes[bodyType] }),
      ...(Object.fromEntries(filled) as Record<string, string>),
    },
    body: body === null ? null : fillBody(bodyType, body, valueOf),
  };
}

/** Returns the request template of a preset or of a custom gateway. */
function describeRequest(settings: Settings) {
  if (settings.preset === "custom") {
    const { url, method, headers, bodyType, body } = settings;
    return { url: url ?? "", method, headers, bodyType, body, encodings: (one: string) => one };
  }
  const gateway = smsGateways[settings.preset];
  const { method, path, headers = {}, bodyType, body, encodings } = gateway;
  const server = joinUrl(settings.url ?? findPreset("sms", settings.preset)?.url ?? "", "");
  return {
    url: `${server.replace(/\/$/, "")}${path}`,
    method,
    headers,
    bodyType,
    body,
    encodings: (one: SmsEncoding) => encodings?.[one === "GSM-7" ? 0 : 1] ?? one,
  };
}

function listValues(
  { account, secret, from, to }: Settings,
  text: string,
  encoding: string,
  id: string,
) {
  const pair = `${account ?? ""}:${secret ?? ""}`;
  return {
    to,
    toDigits: to.slice(1),
    from: from ?? "",
    fromDigits: from?.replace(/^\+/, "") ?? "",
    text,
    unicode: encoding === "UCS-2",
    account: account ?? "",
    secret: secret ?? "",
    basic: Buffer.from(pair).toString("base64"),
    id,
  } satisfies Record<SmsPlaceholder | "fromDigits", string | boolean>;
}

type ValueOf = Parameters<typeof fillPlaceholders>[1];

function fillBody(bodyType: Settings["bodyType"], body: string, valueOf: ValueOf): string {
  if (bodyType === "json") return fillJson(body, valueOf);
  if (bodyType === "text") return fillPlaceholders(body, valueOf);
  return fillPlaceholders(body, (name) => encodeURIComponent(String(valueOf(name))));
}

/** Judges the response of a gateway. A response whose body stalls counts by its status. */
function judgeSmsResponse(settings: Settings, answer: ShortAnswer): Verdict {
  if (settings.preset === "custom") return judgeCustomResponse(settings, answer);
  const { code, accepted, rejections = {} } = smsGateways[settings.preset];
  const { name } = smsPresets[settings.preset];
  const found = findCode(answer, code);
  const rejection = found === null ? undefined : rejections[found];
  if (rejection !== undefined) return reject(name, rejection);
  const verdict = judgeStatus(answer);
  if (verdict.outcome === "failed" || accepted === undefined || found === accepted) return verdict;
  if (found === null) return answer.isUnfinished === true ? delivered : failUnconfirmed(answer);
  // Other texts of the response are not shown.
  const number = /^\d{1,6}$/.test(found) ? ` with code ${found}` : "";
  return failTemporarily(`${name} rejected the message${number}.`);
}

/** Returns the code in a response, which is its whole text if it is not JSON; null if there is none. */
function findCode({ body }: ShortAnswer, path: string | undefined): string | null {
  const json = parseJsonOrNull(body);
  const isStructured = typeof json === "object" && json !== null;
  const value = isStructured && path !== undefined ? findValue(json, path) : body.trim();
  return (typeof value === "string" && value !== "") || typeof value === "number"
    ? String(value)
    : null;
}

const failUnconfirmed = ({ status }: ShortAnswer) =>
  failTemporarily(
    `The receiver responded with ${formatStatus(status)}, but did not confirm the message.`,
  );

const reasons: Record<Rejection, readonly [(reason: string) => Verdict, string]> = {
  number: [failFinally, "the number of the recipient is not valid"],
  barred: [failPermanently, "the account must not send to this number"],
  sender: [failPermanently, "the account must not send from this sender"],
  credentials: [failPermanently, "the account or its secret is not valid"],
  credit: [failPermanently, "the account has too little credit"],
  busy: [failTemporarily, "it can't accept the message at present"],
};

const reject = (name: string, rejection: Rejection): Verdict => {
  const [fail, reason] = reasons[rejection];
  return fail(`${name} reports that ${reason}.`);
};

/** Judges the response of a custom gateway by its conditions. */
function judgeCustomResponse(settings: Settings, answer: ShortAnswer): Verdict {
  const { expectedStatus, keyword, jsonPath, jsonEquals } = settings;
  const [status, ...others] = buildConditions({
    expectedStatus,
    keyword,
    keywordAbsent: null,
    jsonPath,
    jsonEquals,
    assertions: [],
  });
  if (status !== undefined && !isFulfilled(status, answer.status)) {
    const verdict = judgeStatus(answer);
    return verdict.outcome === "failed" ? verdict : failUnconfirmed(answer);
  }
  const isConfirmed = others.every((condition) =>
    isFulfilled(
      condition,
      condition.source === "json"
        ? findValue(parseJsonOrNull(answer.body), condition.path ?? "$")
        : answer.body,
    ),
  );
  return isConfirmed || answer.isUnfinished === true ? delivered : failUnconfirmed(answer);
}
