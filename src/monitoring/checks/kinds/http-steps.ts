/** Builds the HTTP requests of a check: the monitor's request and its steps, with saved values inserted. */
import { createToken } from "../../../core/ids.ts";
import { monitorBounds } from "../../../core/limits.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import type { HttpRequest, Transport } from "../../../core/outgoing/http/request.ts";
import type { Proxy } from "../../../core/outgoing/proxy.ts";
import {
  type BoundedValues,
  boundValues,
  fillPlaceholders,
  fillJson,
  fillUrl,
  type SavedValue,
} from "../../../core/text/placeholders.ts";
import type { Step } from "../../monitors/request-schema.ts";
import type { CheckKind } from "../check.ts";
import { formatCount } from "../../../core/text/formatting.ts";
import { encodeBody } from "./http-body-types.ts";

type Settings = Parameters<CheckKind<"http">>[0];
/** A request and its conditions: the monitor's first request, or one of its steps. */
export type StepRequest = Omit<Step, "name">;
type Values = ReadonlyMap<string, SavedValue>;

/** Whether a request is sent to the monitor's origin, and so may contain the monitor's credentials. */
export const isOwn = (part: StepRequest, settings: Settings): boolean =>
  part === settings ||
  part.url.startsWith("/") ||
  new URL(part.url).origin === new URL(settings.url).origin;

/** Builds a request and inserts saved values. Throws TargetFailure for a value that is invalid in its position. */
export function buildRequest(
  request: StepRequest,
  settings: Settings,
  transport: Transport,
  accessToken: string | null,
  values: Values,
): HttpRequest {
  const isFirst = request === settings;
  const hasNames = !isFirst || Object.keys(settings.variables).length > 0;
  const getSavedValue = boundSavedValues(values);
  const headers = buildHeaders(request, settings, accessToken, getSavedValue);
  const insertValues = (text: string) => (hasNames ? fillPlaceholders(text, getSavedValue) : text);
  const { bodyType } = request;
  const fill =
    bodyType === "json" && hasNames
      ? (text: string) => fillJson(text, getSavedValue)
      : insertValues;
  const { body, contentType } = encodeBody({
    bodyType,
    body: request.body === null ? null : fill(request.body),
    form: request.form.map((field) => ({ ...field, value: insertValues(field.value) })),
  });
  // A multipart body needs the Content-Type with its boundary.
  if (contentType !== null && (bodyType === "multipart" || !headers.has("content-type")))
    headers.set("content-type", ["Content-Type", contentType]);
  const url = hasNames
    ? fillUrl(request.url, new URL(settings.url).origin, getSavedValue)
    : new URL(request.url);
  if (url === null) throw new TargetFailure("A value for its URL would lead to another folder.");
  if (settings.cacheBuster) url.search += `${url.search === "" ? "?" : "&"}_=${createToken(16)}`;
  const { method } = request;
  const { verifyTls } = settings;
  return { url, method, headers: Object.fromEntries(headers.values()), body, verifyTls, transport };
}

function boundSavedValues(values: Values): BoundedValues {
  const getSavedValue = (name: string): SavedValue => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`Nothing was saved as ${name}.`);
    return value;
  };
  const limit = monitorBounds.insertedText.value;
  const tooLong = `Its values have more than ${formatCount(limit)} characters in one request.`;
  return boundValues(getSavedValue, limit, () => new TargetFailure(tooLong));
}

/** Returns headers by lower-case name. Headers of a step override headers of the monitor. */
function buildHeaders(
  request: StepRequest,
  settings: Settings,
  accessToken: string | null,
  valueOf: BoundedValues,
) {
  const isFirst = request === settings;
  const headers = new Map<string, [name: string, value: string]>();
  const set = (name: string, value: string) => headers.set(name.toLowerCase(), [name, value]);
  const setAll = (all: Readonly<Record<string, string>>, hasNames: boolean) => {
    for (const [name, text] of Object.entries(all))
      set(name, hasNames ? assertHeaderValue(name, fillPlaceholders(text, valueOf)) : text);
  };
  if (isOwn(request, settings)) {
    const { basicAuth, bearerToken, variables } = settings;
    setAll(settings.headers, Object.keys(variables).length > 0);
    // This Content-Type describes the body of the first request, not of the step.
    if (!isFirst) headers.delete("content-type");
    if (basicAuth !== null) {
      const pair = `${basicAuth.username}:${basicAuth.password ?? ""}`;
      set("Authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
    }
    const bearer = accessToken ?? bearerToken;
    if (bearer !== null) set("Authorization", formatBearer(bearer));
  }
  if (!isFirst) setAll(request.headers, true);
  return headers;
}

/** Builds the Authorization value. Each UTF-8 byte of the token becomes one header character. */
export const formatBearer = (token: string) => `Bearer ${Buffer.from(token).toString("latin1")}`;

/** Throws TargetFailure for control characters, because a line break would start another header or the body. */
function assertHeaderValue(name: string, value: string): string {
  if (/[^\P{Cc}\t]/u.test(value))
    throw new TargetFailure(`A value for the header ${name} has control characters.`);
  return value;
}

/** Connection settings of all requests. The client certificate is used only for the monitor's origin. */
export function buildTransport(settings: Settings): Transport {
  const { ipFamily, connectTo, proxyUrl, clientCertificate, clientKey } = settings;
  const parseTargetUrl = () => new URL(settings.url);
  return {
    family: ipFamily === "any" ? null : ipFamily === "4" ? 4 : 6,
    hostOverride: connectTo === null ? null : { of: parseTargetUrl().hostname, host: connectTo },
    proxy: proxyUrl === null ? null : buildProxy(settings, proxyUrl),
    client:
      clientCertificate === null || clientKey === null
        ? null
        : { origin: parseTargetUrl().origin, certificate: clientCertificate, key: clientKey },
  };
}

const buildProxy = ({ proxyUsername, proxyPassword }: Settings, url: string): Proxy => ({
  url: new URL(url),
  username: proxyUsername,
  password: proxyPassword,
});
