/** Sends messages and calls through the HTTP interface of a gateway, and reads whether they arrived. */
import { hourMs } from "../../core/time/clock.ts";
import { findPreset, type GatewayType } from "../channels/gateway-rules.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import type { ShortResponse } from "../../core/outgoing/http/exchange.ts";
import { createLookup, parseJsonOrNull } from "../../core/collections/objects.ts";
import {
  type BoundedValues,
  fillEncoded,
  fillJson,
  fillPlaceholders,
  fillUrl,
} from "../../core/text/placeholders.ts";
import { buildConditions, isFulfilled } from "../../monitoring/checks/protocols/assertions.ts";
import { findValue } from "../../monitoring/checks/protocols/json-path.ts";
import {
  type DeliveryContext,
  delivered,
  failFinally,
  failPermanently,
  failTemporarily,
  failUnconfirmed,
  judgeStatus,
  type ProviderReceipts,
  type ProviderRequest,
  type ReceiptState,
  sendProviderRequest,
  type Verdict,
} from "../provider.ts";
import { boundMessageValues, joinUrl } from "./formatting.ts";
import { signToken } from "./voice-token.ts";

/** Meaning of a rejection. All except `busy` need a person: the message is not sent again, or only for a short time. */
type Rejection = "number" | "sender" | "credentials" | "credit" | "barred" | "busy";

/** How a message or a call ended, by the words of a gateway. `unreported`: it never reports more than that it was sent. */
type Ending =
  | "delivered"
  | "undelivered"
  | "expired"
  | "rejected"
  | "failed"
  | "answered"
  | "busy"
  | "unanswered"
  | "declined"
  | "call-failed"
  | "unreported";

/** How a gateway reports whether a message arrived, if it documents a request for it. */
type Receipt = {
  /** Path of the message's ID in the response to an accepted message. */
  id: string;
  /** Address of the service that reports receipts; absent if the gateway does. */
  url?: string;
  /** Path below that address, with `{{receipt}}` for the ID. */
  path: string;
  /** Path of the state in the response. Other states than those in `endings` are not final. */
  state: string;
  endings: Readonly<Record<string, Ending>>;
  /** Path of a numeric code that explains a failure. */
  code?: string;
};

/** The requests of a vendor, as its documentation describes them. */
export type Gateway = {
  method: "POST" | "GET";
  /** Path below the address of the gateway, with placeholders. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  bodyType: "json" | "form";
  body: string | null;
  /** Values of `{{encoding}}` for GSM-7 and UCS-2. */
  encodings?: readonly [string, string];
  /** Path of the code in a JSON response; absent if the whole text is the code. */
  code?: string;
  /** Code of an accepted message. Absent if the HTTP status suffices. */
  accepted?: string;
  rejections?: Readonly<Record<string, Rejection>>;
  /** Maximum parts of a message, if the gateway does not split it. */
  maxParts?: number;
  receipt?: Receipt;
  call?: CallScripts;
};

/** Spoken text of a call, and the URL that receives the pressed key; null if the gateway supports no keys. */
export type Call = { text: string; language: string; keyUrl: string | null };

/** How a vendor makes calls. */
type CallScripts = {
  /** Value of `{{script}}`, also in JSON outside of quotation marks: reads the text twice, and waits for a key. */
  script: (call: Call) => string;
  /** Type of a script in the response to a pressed key. Absent if keys are not supported. */
  scriptType?: string;
  /** Maximum characters of the text. */
  maxLength?: number;
  /** Whether the gateway fetches the script from `{{scriptUrl}}` when someone answers. */
  isFetched?: true;
  /** Whether the secret is a private key that signs a token. */
  signsToken?: true;
};

type Settings = Omit<ChannelSettings<"sms">, "preset" | "maxParts" | "from"> & {
  preset: string;
  from: string | null;
};

/** A vendor with its name for people, or a custom gateway. */
export type GatewayChoice = { type: GatewayType; name: string; gateway: Gateway | null };

type Values = Readonly<Record<string, string | boolean>>;
type GatewayRequest = GatewayChoice & { settings: Settings; values: Values };

/** Sends one request, and judges the response. A response with an ID starts the wait for a receipt. */
export async function sendThroughGateway(
  request: GatewayRequest,
  context: DeliveryContext,
): Promise<Verdict> {
  const httpRequest = buildRequest(request);
  if (httpRequest === null) return failFinally("The account leads to another URL of the gateway.");
  return sendProviderRequest(httpRequest, context, (response) => {
    const verdict = judgeResponse(request, response);
    const id = verdict.outcome === "delivered" ? findReceiptId(request, response) : null;
    const expiresAt = context.now + receiptTimes[request.type].waitMs;
    return id === null ? verdict : { ...verdict, receipt: { id, expiresAt } };
  });
}

const contentTypes = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  text: "text/plain; charset=utf-8",
};

/** Builds the request of a gateway; null if a value would change the folder of its URL. */
function buildRequest({ values, ...request }: GatewayRequest): ProviderRequest | null {
  const { method, url, headers, bodyType, body } = describeRequest(request);
  const valueOf = boundMessageValues((name) => values[name] ?? "");
  const address = fillUrl(url, "", valueOf);
  if (address === null) return null;
  return {
    url: address.href,
    method,
    headers: {
      ...(body !== null && { "Content-Type": contentTypes[bodyType] }),
      ...fillHeaders(headers, valueOf),
    },
    body: body === null ? null : fillBody(bodyType, body, valueOf),
  };
}

/** Returns the value of `{{token}}` for gateways whose secret is a private key. Throws if it can't be read. */
export function createTokenValue(
  gateway: Gateway | null,
  { account, secret }: Pick<Settings, "account" | "secret">,
  now: number,
): Values {
  if (gateway?.call?.signsToken !== true) return {};
  return { token: signToken(secret ?? "", account ?? "", now) };
}

const fillHeaders = (headers: Readonly<Record<string, string>>, valueOf: BoundedValues) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      /^content-type$/i.test(name) ? "Content-Type" : name,
      fillPlaceholders(value, valueOf),
    ]),
  );

/** Returns the request template of a preset or of a custom gateway. */
function describeRequest({ type, gateway, settings }: Omit<GatewayRequest, "values">) {
  if (gateway === null) {
    const { url, method, headers, bodyType, body } = settings;
    return { url: url ?? "", method, headers, bodyType, body };
  }
  const { method, path, headers = {}, bodyType, body } = gateway;
  return { url: `${findServer(type, settings)}${path}`, method, headers, bodyType, body };
}

const findServer = (type: GatewayType, { preset, url }: Settings): string =>
  joinUrl(url ?? findPreset(type, preset)?.url ?? "", "").replace(/\/$/, "");

/** Returns the values of the placeholders that requests of all gateways can have. */
export function createRequestValues(
  { account, secret, from, to }: Pick<Settings, "account" | "secret" | "from" | "to">,
  id: string,
  text: string,
): Values {
  const pair = `${account ?? ""}:${secret ?? ""}`;
  return {
    to,
    toDigits: to.slice(1),
    from: from ?? "",
    fromDigits: from?.replace(/^\+/, "") ?? "",
    text,
    account: account ?? "",
    secret: secret ?? "",
    basic: Buffer.from(pair).toString("base64"),
    id,
  };
}

function fillBody(bodyType: Settings["bodyType"], body: string, valueOf: BoundedValues): string {
  // A script is JSON already.
  if (bodyType === "json")
    return body
      .split("{{script}}")
      .map(
        (part, index) => (index === 0 ? "" : String(valueOf("script"))) + fillJson(part, valueOf),
      )
      .join("");
  if (bodyType === "text") return fillPlaceholders(body, valueOf);
  return fillEncoded(body, valueOf);
}

/** Judges the response of a gateway. A response whose body stalls counts by its status. */
function judgeResponse(
  { gateway, name, settings }: GatewayRequest,
  response: ShortResponse,
): Verdict {
  if (gateway === null) return judgeCustomResponse(settings, response);
  const { code, accepted, rejections = {} } = gateway;
  const found = findCode(response, code);
  const rejection = found === null ? undefined : rejections[found];
  if (rejection !== undefined) return createRejection(name, rejection);
  const verdict = judgeStatus(response);
  if (verdict.outcome === "failed" || accepted === undefined || found === accepted) return verdict;
  if (found === null) return response.isUnfinished === true ? delivered : failUnconfirmed(response);
  // Other texts of the response are not shown.
  const number = /^\d{1,6}$/.test(found) ? ` with code ${found}` : "";
  return failTemporarily(`${name} rejected the message${number}.`);
}

/** Returns the code in a response, which is its whole text if it is not JSON; null if there is none. */
function findCode({ body }: ShortResponse, path: string | undefined): string | null {
  const json = parseJsonOrNull(body);
  const isStructured = typeof json === "object" && json !== null;
  const value = isStructured && path !== undefined ? findValue(json, path) : body.trim();
  return (typeof value === "string" && value !== "") || typeof value === "number"
    ? String(value)
    : null;
}

const reasons: Record<Rejection, readonly [(reason: string) => Verdict, string]> = {
  number: [failFinally, "the number of the recipient is not valid"],
  barred: [failPermanently, "the account must not send to this number"],
  sender: [failPermanently, "the account must not send from this sender"],
  credentials: [failPermanently, "the account or its secret is not valid"],
  credit: [failPermanently, "the account has too little credit"],
  busy: [failTemporarily, "it can't accept the message at present"],
};

const createRejection = (name: string, rejection: Rejection): Verdict => {
  const [fail, reason] = reasons[rejection];
  return fail(`${name} reports that ${reason}.`);
};

/** Judges the response of a custom gateway by its conditions. */
function judgeCustomResponse(settings: Settings, response: ShortResponse): Verdict {
  const { expectedStatus, keyword, jsonPath, jsonEquals } = settings;
  const [status, ...others] = buildConditions({
    expectedStatus,
    keyword,
    keywordAbsent: null,
    jsonPath,
    jsonEquals,
    assertions: [],
  });
  if (status !== undefined && !isFulfilled(status, response.status)) {
    const verdict = judgeStatus(response);
    return verdict.outcome === "failed" ? verdict : failUnconfirmed(response);
  }
  const isConfirmed = others.every((condition) =>
    isFulfilled(
      condition,
      condition.source === "json"
        ? findValue(parseJsonOrNull(response.body), condition.path ?? "$")
        : response.body,
    ),
  );
  return isConfirmed || response.isUnfinished === true ? delivered : failUnconfirmed(response);
}

/** How long a receipt is awaited, and the first interval between two requests. An unanswered call ends within a minute. */
const receiptTimes: Record<GatewayType, { waitMs: number; firstMs: number }> = {
  sms: { waitMs: 24 * hourMs, firstMs: 10_000 },
  voice: { waitMs: 3_600_000, firstMs: 5_000 },
};

/** Interval between two requests for a receipt: short at first, because failures come early. */
function computePollMs(type: GatewayType, now: number, expiresAt: number): number {
  const { waitMs, firstMs } = receiptTimes[type];
  return Math.min(Math.max(firstMs, (now - (expiresAt - waitMs)) / 4), 600_000);
}

/** Returns the ID with which the receipt of an accepted message is requested; null if there is none. */
function findReceiptId({ gateway, settings }: GatewayRequest, { body }: ShortResponse) {
  const path = gateway === null ? settings.receiptIdPath : (gateway.receipt?.id ?? null);
  const value = path === null ? null : findValue(parseJsonOrNull(body), path);
  const id = typeof value === "number" ? String(value) : value;
  return typeof id === "string" && /^[\w.:@+=-]{1,200}$/.test(id) ? id : null;
}

/** Creates the requests with which a channel type finds out whether its messages arrived. */
export const createReceipts = <S extends Settings>(
  type: GatewayType,
  choose: (settings: S) => GatewayChoice,
): ProviderReceipts<S> => ({
  pollMs: ({ now, expiresAt }) => computePollMs(type, now, expiresAt),
  read: (settings, receipt, context) =>
    readReceipt({ ...choose(settings), settings }, receipt, context),
});

/** Reads whether a message arrived. A response that is not understood ends nothing. */
async function readReceipt(
  request: Omit<GatewayRequest, "values">,
  id: string,
  context: DeliveryContext,
): Promise<ReceiptState> {
  const { type, gateway, settings, name } = request;
  const template =
    gateway === null
      ? settings.receiptUrl
      : gateway.receipt &&
        `${gateway.receipt.url ?? findServer(type, settings)}${gateway.receipt.path}`;
  if (template == null) return "over";
  const values: Values = {
    ...createRequestValues(settings, "", ""),
    ...createTokenValue(gateway, settings, context.now),
    receipt: id,
  };
  const valueOf = boundMessageValues((key) => values[key] ?? "");
  const url = fillUrl(template, "", valueOf);
  if (url === null) return "over";
  const headers = fillHeaders(
    gateway === null ? settings.headers : (gateway.headers ?? {}),
    valueOf,
  );
  const { "Content-Type": _type, ...sent } = headers;
  const response = await context.exchange(
    { url, method: "GET", headers: sent, body: null, verifyTls: true },
    context,
  );
  if (judgeStatus(response).outcome === "failed") return "waiting";
  const ending = findEnding(request, response);
  if (ending === null) return "waiting";
  if (ending === "unreported") return "over";
  if (ending === "delivered") return { arrived: "Delivered to the phone." };
  if (ending === "answered") return { arrived: "The call was answered." };
  const state = {
    lost: `${name} reports that ${endings[ending]}${findFailureCode(gateway, response)}.`,
  };
  return unansweredEndings.has(ending) ? { ...state, isUnanswered: true } : state;
}

const endings: Record<Exclude<Ending, "delivered" | "answered" | "unreported">, string> = {
  undelivered: "the phone did not get the message",
  expired: "the phone could not be reached in time",
  rejected: "the network rejected the message",
  failed: "the message could not be sent",
  busy: "the line was busy",
  unanswered: "nobody answered the call",
  declined: "the call was declined",
  "call-failed": "the call failed",
};

/** Endings after which the gateway and the number are in order. */
const unansweredEndings: ReadonlySet<Ending> = new Set(["busy", "unanswered", "declined"]);

/** Returns how a message ended; null while that is unknown. */
function findEnding(
  { type, gateway, settings }: Omit<GatewayRequest, "values">,
  { body }: ShortResponse,
): Ending | null {
  const json = parseJsonOrNull(body);
  if (gateway !== null) {
    const state = gateway.receipt && findValue(json, gateway.receipt.state);
    return createLookup(gateway.receipt?.endings ?? {})[String(state)] ?? null;
  }
  const { receiptStatePath, receiptDelivered, receiptFailed } = settings;
  const state = receiptStatePath === null ? body.trim() : findValue(json, receiptStatePath);
  const isOneOf = (words: readonly string[]) =>
    words.some((word) => word.toLowerCase() === String(state).toLowerCase());
  const [success, failure] =
    type === "sms"
      ? (["delivered", "undelivered"] as const)
      : (["answered", "unanswered"] as const);
  if (isOneOf(receiptDelivered)) return success;
  return isOneOf(receiptFailed) ? failure : null;
}

/** Returns the numeric code of a failure as a part of a sentence. Other texts of the response are not shown. */
function findFailureCode(gateway: Gateway | null, { body }: ShortResponse): string {
  const path = gateway?.receipt?.code;
  const code = path === undefined ? null : findValue(parseJsonOrNull(body), path);
  return /^[1-9]\d{0,5}$/.test(String(code)) ? `, with code ${String(code)}` : "";
}
