/** Receives the requests of other tools at the addresses of alert sources, and responds as each tool expects. */
import { AppError, rateLimitError } from "../../core/errors.ts";
import { sha256 } from "../../core/ids.ts";
import { sourceBounds } from "../../core/limits.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { yieldToEventLoop } from "../../core/time/event-loop.ts";
import { portionRows, type Store } from "../../database/store.ts";
import type { NetworkLimit, RateLimit } from "../../http/access/rate-limit.ts";
import { type BodyClient, assertNotCompressed, readBytes } from "../../http/body.ts";
import { pathOf } from "../../http/request.ts";
import { httpStatuses, unknownPathError } from "../../http/responses/error-response.ts";
import type { SnsVerifier } from "./aws-sns.ts";
import { readReports } from "./dialects.ts";
import { readMailBody } from "./mail/message.ts";
import { readMailReports } from "./mail/reports.ts";
import { toJsonObject, toText, type Report, type SourceRequest } from "./report-rules.ts";
import { decodeSent, parseSent } from "./request-body.ts";
import { describeError, type ReceivedRequest, type SourceOutcome } from "./request-log.ts";
import type { SourceType } from "./schema.ts";
import type { SourceWriter } from "./source-writer.ts";
import { findSourceByToken, type SourceRow } from "./store.ts";

/** Path of the sources. The token is the credential. */
export const sourcePath = "/in/";
/** Replaces the token in logged requests. */
const hiddenToken = "TOKEN";

export type SourceContext = {
  writer: SourceWriter;
  verifySns: SnsVerifier;
  /** Limit of wrong tokens per client network and minute. */
  wrongTokens: NetworkLimit;
  /** Limit of requests per source and minute. */
  requests: RateLimit;
};

type Client = { address: string; isKnown: boolean };
type Services = { store: Store };

const noStore = { "Cache-Control": "no-store" };

/** Receives a request at `/in/TOKEN`. Throws NOT_FOUND for a wrong token, RATE_LIMITED, and the errors of the request. */
export async function receiveReport(
  request: Request,
  token: string,
  client: Client,
  services: Services,
  context: SourceContext,
): Promise<Response> {
  const source = await findSource(token, client, services, context);
  const start = sourcePath.length + token.length;
  const rest = pathOf(request).slice(start);
  try {
    return buildResponse(source.type, await receiveRequest(request, rest, token, source, context));
  } catch (error) {
    return respondToError(source.type, error);
  }
}

/** Receives an event at PagerDuty's path, with the token as its routing key. */
export async function receivePagerDuty(
  request: Request,
  client: Client,
  services: Services,
  context: SourceContext,
): Promise<Response> {
  try {
    const bytes = await readSent(request, client, maxEventBytes);
    const text = await decodeSent(bytes, contentTypeOf(request));
    const token = toText(toJsonObject(parseSent(text))["routing_key"]);
    const source = await findSource(token, client, services, context).catch(hideUnknown);
    if (source === null) throw invalidFieldError("routing_key", "is not valid");
    assertType(source, "pagerduty", "routing_key");
    const received = { bytes: bytes.length, text, path: "", token, headers: {} };
    return buildResponse("pagerduty", await storeRequest(source, received, context));
  } catch (error) {
    return respondToError("pagerduty", error);
  }
}

/** Receives a request at Opsgenie's paths, with the token as its API key. */
export async function receiveOpsgenie(
  request: Request,
  client: Client,
  services: Services,
  context: SourceContext,
): Promise<Response> {
  try {
    const header = request.headers.get("authorization") ?? "";
    const token = /^GenieKey\s+(\S+)$/i.exec(header.trim())?.[1] ?? "";
    const source = await findSource(token, client, services, context).catch(hideUnknown);
    if (source === null) throw new AppError("FORBIDDEN", "The API key is not valid.");
    assertType(source, "opsgenie", "Authorization");
    return buildResponse(
      "opsgenie",
      await receiveRequest(request, pathOf(request), token, source, context),
    );
  } catch (error) {
    return respondToError("opsgenie", error);
  }
}

/** PagerDuty rejects longer events, too. */
const maxEventBytes = 512 * 1024;

const contentTypeOf = ({ headers }: Request) => headers.get("content-type") ?? "";

function hideUnknown(error: unknown): null {
  if (error instanceof AppError && error.code === "NOT_FOUND") return null;
  throw error;
}

/** Every token is looked up in the same way, so that neither the response nor its time shows how close one is. */
async function findSource(
  token: string,
  { address }: Client,
  { store: data }: Services,
  { wrongTokens, requests }: SourceContext,
): Promise<SourceRow> {
  const source = await findSourceByToken(data, sha256(token));
  if (source === null) {
    const waitSeconds = wrongTokens.take(address);
    if (waitSeconds > 0)
      throw rateLimitError(waitSeconds, "Too many wrong addresses from this network.");
    throw unknownPathError();
  }
  const waitSeconds = requests.take(source.id);
  if (waitSeconds > 0) throw rateLimitError(waitSeconds, "Too many requests to this source.");
  return source;
}

function assertType({ type }: SourceRow, expected: SourceType, field: string) {
  if (type !== expected)
    throw invalidFieldError(field, `is of a source of the type ${type}, not ${expected}`);
}

async function readSent(request: Request, client: BodyClient, maxBytes: number) {
  assertNotCompressed(request);
  return readBytes(request, client, maxBytes);
}

/** Headers that dialects read, and that a replay needs. */
const readHeaders = ["sentry-hook-resource"];

async function receiveRequest(
  request: Request,
  rest: string,
  token: string,
  source: SourceRow,
  context: SourceContext,
): Promise<StoredOutcome> {
  const { organizationId } = source;
  const query = request.url.includes("?") ? request.url.slice(request.url.indexOf("?")) : "";
  const headers = Object.fromEntries(
    readHeaders.flatMap((name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [[name, value.slice(0, 100)]];
    }),
  );
  const path = `${rest}${query}`.slice(0, 1_000);
  const bytes = await readSent(request, { organizationId }, sourceBounds.body.value);
  const size = { bytes: bytes.length, path, token, headers };
  let text: string | null = null;
  try {
    text = await decodeSent(bytes, contentTypeOf(request));
  } catch (error) {
    return logError(source, { ...size, text }, error, context);
  }
  return storeRequest(source, { ...size, text }, context);
}

/** The outcome of a request, and the sender's key of its first report. */
type StoredOutcome = SourceOutcome & { key: string | null };

type SentBody = {
  text: string | null;
  bytes: number;
  path: string;
  token: string;
  headers: Readonly<Record<string, string>>;
};

const hideToken = (text: string, token: string) => text.replaceAll(token, hiddenToken);

const toLogged = ({ text, bytes, path, token, headers }: SentBody): ReceivedRequest => ({
  path: hideToken(path, token),
  headers,
  body: text === null ? null : hideToken(text, token),
  bytes,
});

/** Stores a request with its reports. A request that can't be read is logged, too. */
async function storeRequest(
  source: SourceRow,
  sent: SentBody,
  context: SourceContext,
): Promise<StoredOutcome> {
  const request = toLogged(sent);
  let read: { reports: Report[]; message?: string };
  try {
    read = await readRequest(source, request, sent.text ?? "", context.verifySns);
  } catch (error) {
    return logError(source, sent, error, context);
  }
  // Reading and planning that many reports takes longer than one turn of the event loop should.
  if (read.reports.length > portionRows) await yieldToEventLoop();
  const outcome = await context.writer.add({ source, request, ...read });
  return { ...outcome, key: read.reports[0]?.key ?? null };
}

/** Reads the reports of a request, or confirms a subscription. `verify` is null for a replay. */
export async function readRequest(
  source: Pick<SourceRow, "organizationId" | "type" | "mapping" | "mailRules">,
  { path, headers }: Pick<ReceivedRequest, "path" | "headers">,
  text: string,
  verify: SnsVerifier | null,
): Promise<{ reports: Report[]; message?: string }> {
  const { organizationId, type, mapping, mailRules } = source;
  if (type === "email")
    return {
      reports: await readMailReports(organizationId, await readMailBody(text), mailRules),
    };
  const body = parseSent(text);
  if (type === "aws-sns" && verify !== null) {
    const message = await verify(body);
    if (message !== null) return { reports: [], message };
  }
  const [pathname = "", query = ""] = path.split("?");
  const request: SourceRequest = {
    path: pathname,
    query: new URLSearchParams(query),
    headers,
    body,
  };
  const reports = readReports({ type, mapping }, request);
  if (reports.length > sourceBounds.alertsPerRequest.value)
    throw invalidFieldError(
      "body",
      `must have at most ${sourceBounds.alertsPerRequest.value} alerts`,
    );
  return { reports };
}

/** Logs a request that can't be read, and throws its error. */
async function logError(
  source: SourceRow,
  sent: SentBody,
  error: unknown,
  { writer }: SourceContext,
): Promise<never> {
  if (error instanceof AppError)
    await writer.add({ source, request: toLogged(sent), reports: [], error });
  throw error;
}

function buildResponse(type: SourceType, { id, message, changes, key }: StoredOutcome): Response {
  if (type === "pagerduty")
    return Response.json(
      { status: "success", message: "Event processed", dedup_key: key },
      { status: 202, headers: noStore },
    );
  if (type === "opsgenie")
    return Response.json(
      { result: "Request will be processed", took: 0, requestId: id },
      { status: 202, headers: noStore },
    );
  const count = (change: string) => changes.filter((one) => one === change).length;
  return Response.json(
    {
      ok: true,
      opened: count("opened"),
      changed: count("changed"),
      acknowledged: count("acknowledged"),
      resolved: count("resolved"),
      message,
    },
    { headers: noStore },
  );
}

/** Returns the error in the form of the tool's own API. All other tools get that of our API. */
function respondToError(type: SourceType, error: unknown): Response {
  if (!(error instanceof AppError) || (type !== "pagerduty" && type !== "opsgenie")) throw error;
  const { code, message, headers } = error;
  const isInvalid = code === "VALIDATION_ERROR" || code === "INVALID_JSON";
  const status = type === "pagerduty" && isInvalid ? 400 : httpStatuses[code];
  const body =
    type === "pagerduty"
      ? {
          status: isInvalid ? "invalid event" : "error",
          message: isInvalid ? "Event object is invalid" : message,
          errors: isInvalid
            ? (error.details?.map(({ path, message: issue }) => `'${path}' ${issue}`) ?? [message])
            : [message],
        }
      : { message: describeError(error), took: 0, requestId: Bun.randomUUIDv7() };
  return Response.json(body, { status, headers: { ...headers, ...noStore } });
}
