/**
 * Receives the key that someone pressed during a call. The gateway sends it to the link of the alert, below `/call`.
 * Some gateways also fetch the script of a call.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256 } from "../../core/ids.ts";
import { type Fields, parseObject } from "../../core/collections/objects.ts";
import type { ScopeServices } from "../../events/scope.ts";
import { readBytes } from "../../http/body.ts";
import { respondTooManyRequests } from "../../http/responses/small-page.ts";
import { findGateway, resolveSettings } from "../channels/gateways.ts";
import type { ChannelSettings } from "../channels/kinds-schema.ts";
import { findChannel } from "../channels/service.ts";
import { acknowledgeKey, chooseVoiceGateway } from "../providers/voice.ts";
import { acknowledgeAsChannel } from "./actions.ts";
import { findLink, type LinkPort, respondInvalidLink } from "./link-page.ts";
import { acknowledgePath, callPath, openScript, scriptPath } from "./links.ts";

/** Path of the pressed keys of a call. */
export const callRoute = `${acknowledgePath}:token${callPath}` as const;

/** Path of the scripts of calls. */
export const scriptRoute = `${acknowledgePath}:token${scriptPath}` as const;

/** Maximum bytes of a request. Gateways send a few hundred. */
const maxBytes = 16 * 1024;

/**
 * Acknowledges an alert if the right key was pressed, and returns the next text of the call. Twilio signs its requests.
 * For other gateways, the unguessable link is the credential. All invalid requests get the same page.
 */
export async function serveKeyPress(
  request: Request,
  token: string,
  address: string,
  services: ScopeServices,
  { wrongTokens, requests, linkOrigin = () => null }: LinkPort,
): Promise<Response> {
  const origin = linkOrigin();
  // Without a public address, no call offers a key.
  const link = origin === null ? null : await findLink(token, services);
  if (link === null) return respondInvalidLink(wrongTokens, address);
  const { target, name, record } = link;
  const waitSeconds = requests.take(`${target.recordId} ${target.channelId}`);
  if (waitSeconds > 0) return respondTooManyRequests(String(waitSeconds));
  const settings = await findVoiceSettings(services, target);
  const keyUrl = `${origin}${acknowledgePath}${token}${callPath}`;
  const text = await readText(request, address);
  const isGenuine =
    settings?.preset !== "twilio" || isSignedByTwilio(request, keyUrl, text, settings);
  if (settings === null || text === null || !isGenuine)
    return respondInvalidLink(wrongTokens, address);
  const isRight = findKey(parseFields(text)) === acknowledgeKey;
  if (record.resolvedAt === null && !isRight)
    return renderCall(settings, `Press ${acknowledgeKey} to acknowledge.`, keyUrl);
  const alert = await acknowledgeAsChannel(services, target, name);
  return renderCall(settings, alert === null ? "The alert has ended." : "Acknowledged.", null);
}

/** Returns the script of a call. It is sealed in the URL, which permits nothing else. */
export async function serveScript(
  _request: Request,
  token: string,
  address: string,
  { vault, clock }: ScopeServices,
  { wrongTokens, requests }: LinkPort,
): Promise<Response> {
  const call = openScript(vault, token, clock());
  if (call === null) return respondInvalidLink(wrongTokens, address);
  const waitSeconds = requests.take(sha256(token));
  return waitSeconds > 0
    ? respondTooManyRequests(String(waitSeconds))
    : respondWithScript(call.script, call.type);
}

/** Returns the settings of the gateway that calls through a channel; null if it makes no calls. */
async function findVoiceSettings(
  { store, vault }: ScopeServices,
  { organizationId, channelId }: { organizationId: string; channelId: string },
): Promise<ChannelSettings<"voice"> | null> {
  const tenant = { store, organizationId };
  const channel = await findChannel(tenant, channelId);
  if (channel?.type !== "voice") return null;
  const gateway = await findGateway(tenant, channel);
  return gateway && (resolveSettings(vault, channel, gateway) as ChannelSettings<"voice">);
}

/** Returns the body of a request; null if it is too large or did not arrive. */
async function readText(request: Request, address: string): Promise<string | null> {
  const bytes = await readBytes(request, { address, isKnown: false }, maxBytes).catch(() => null);
  return bytes && new TextDecoder().decode(bytes);
}

const parseFields = (text: string): Fields =>
  parseObject(text) ?? Object.fromEntries(new URLSearchParams(text));

/** Returns the pressed key, under the name that the gateway uses: Twilio, 46elks, Vonage, or any other one. */
function findKey({ Digits, result, dtmf, digits }: Fields): string | null {
  const vonageDigits =
    typeof dtmf === "object" && dtmf !== null ? (dtmf as Fields)["digits"] : dtmf;
  const keys = [Digits, result, vonageDigits, digits].map((key) =>
    typeof key === "number" ? String(key) : key,
  );
  return keys.find((key): key is string => typeof key === "string") ?? null;
}

/** Verifies the signature of a form: https://www.twilio.com/docs/usage/security#validating-requests */
function isSignedByTwilio(
  request: Request,
  url: string,
  text: string | null,
  { secret }: ChannelSettings<"voice">,
): boolean {
  const content = joinFields(text ?? "");
  const givenSignature = Buffer.from(request.headers.get("x-twilio-signature") ?? "", "base64");
  return listSignedUrls(url).some((signedUrl) => {
    const expected = createHmac("sha1", secret ?? "")
      .update(`${signedUrl}${content}`)
      .digest();
    return givenSignature.length === expected.length && timingSafeEqual(givenSignature, expected);
  });
}

/** Joins the fields of a form as Twilio signs them: by name, and repeated ones once per value. */
function joinFields(form: string): string {
  const values = Map.groupBy(new URLSearchParams(form), ([name]) => name);
  return [...values]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, fields]) => [...new Set(fields.map((field) => field.join("")))].toSorted())
    .join("");
}

/** Twilio signs the URL with its port or without it, as its own libraries verify both. */
function listSignedUrls(url: string): string[] {
  const { protocol, hostname, port, pathname } = new URL(url);
  const usualPort = protocol === "https:" ? "443" : "80";
  return ["", `:${port || usualPort}`].map((end) => `${protocol}//${hostname}${end}${pathname}`);
}

/** Returns the next text of the call, in the format of its gateway. */
function renderCall(
  settings: ChannelSettings<"voice">,
  text: string,
  keyUrl: string | null,
): Response {
  const { call } = chooseVoiceGateway(settings).gateway ?? {};
  const script = call?.script({ text, language: settings.language, keyUrl }) ?? text;
  return respondWithScript(script, call?.scriptType ?? "text/plain; charset=utf-8");
}

const respondWithScript = (script: string, type: string) =>
  new Response(script, { headers: { "Content-Type": type, "Cache-Control": "no-store" } });
