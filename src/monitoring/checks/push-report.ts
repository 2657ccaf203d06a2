/** Reads the report of a job from the query and body of a request to a push URL. */
import { AppError } from "../../core/errors.ts";
import { monitorBounds, requestBounds } from "../../core/limits.ts";
import { toRemoteLine } from "../../core/text/formatting.ts";
import { invalidFieldError } from "../../core/validation.ts";
import { type BodyClient, assertNotCompressed, parseJsonText, readBytes } from "../../http/body.ts";
import { isRead } from "../../http/request.ts";
import { createReport, type PushReport } from "../jobs/report-rules.ts";

type PushStatus = "up" | "down";

/** Field names and statuses of one kind of push URL: of Signalbox or of Uptime Kuma. */
export type PushDialect = {
  /** Name of the field with the duration in milliseconds. */
  latency: string;
  /** Reads a status. Throws VALIDATION_ERROR for an unknown status. */
  statusOf: (value: unknown) => PushStatus;
};

export const signalboxPush: PushDialect = {
  latency: "latency_ms",
  statusOf(value) {
    if (value === "up" || value === "down") return value;
    throw invalidFieldError("status", "must be one of: up, down");
  },
};

/**
 * Push URLs of Uptime Kuma, which treats every status other than `up` as down.
 * https://github.com/louislam/uptime-kuma/blob/master/server/routers/api-router.js
 */
export const uptimeKumaPush: PushDialect = {
  latency: "ping",
  statusOf: (value) => (value === "up" ? "up" : "down"),
};

/** Maximum latency: 9 digits, which is 11 days. */
const maxLatencyMs = 999_999_999;

type Field = { name: string; value: unknown };

/**
 * Reads the report. An unreadable body is ignored if the query contains `status`. Throws VALIDATION_ERROR, or the error
 * of the body.
 */
export async function readReport(
  request: Request,
  client: BodyClient,
  dialect: PushDialect,
): Promise<PushReport> {
  const fields = parseQueryFields(request.url);
  try {
    fields.push(...(await readBodyFields(request, client)));
  } catch (error) {
    // Jobs often send their log as the body. The query is then a complete report.
    const isComplete = fields.some(({ name }) => name === "status");
    if (!isComplete || !(error instanceof AppError)) throw error;
  }
  return parseReport(fields, dialect);
}

function parseReport(fields: readonly Field[], { latency, statusOf }: PushDialect): PushReport {
  const valuesOf = (name: string) =>
    fields.flatMap((field) => (field.name === name ? [field.value] : []));
  const statuses = valuesOf("status").map((value) => statusOf(trimIfText(value)));
  return createReport(statuses.includes("down") ? "failure" : "success", {
    message:
      valuesOf("msg")
        .map(parseMessage)
        .find((message) => message !== "") ?? describeIgnored(fields, latency),
    latencyMs:
      valuesOf(latency)
        .map(parseLatency)
        .find((ms) => ms !== null) ?? null,
  });
}

/** Maximum length of the ignored names in a message. */
const maxNames = 60;

/** Mentions unknown fields of a report without a status: `?state=down` counts as up. */
function describeIgnored(fields: readonly Field[], latency: string): string | null {
  const names = fields.map(({ name }) => name);
  const unknown = names.filter((name) => !["status", "msg", latency].includes(name));
  if (unknown.length === 0 || names.includes("status")) return null;
  return `Up, because the report has no status. Ignored: ${toRemoteLine(unknown.join(", "), maxNames)}`;
}

const trimIfText = (value: unknown) => (typeof value === "string" ? value.trim() : value);

function parseMessage(value: unknown): string {
  if (value === undefined || value === null) return "";
  return toRemoteLine(
    typeof value === "string" ? value : JSON.stringify(value),
    monitorBounds.pushMessage.value,
  );
}

/** Reads a latency in whole milliseconds; null unless it is a decimal number up to `maxLatencyMs`. */
function parseLatency(value: unknown): number | null {
  const text = String(trimIfText(value));
  if (!/^\d+(\.\d*)?$/.test(text)) return null;
  const ms = Math.round(Number(text));
  return ms <= maxLatencyMs ? ms : null;
}

function parseQueryFields(url: string): Field[] {
  const start = url.indexOf("?");
  return start === -1 ? [] : parseFormFields(url.slice(start + 1));
}

function parseFormFields(text: string): Field[] {
  return normalizeFields(new URLSearchParams(text));
}

/**
 * Normalizes field names, so that a misspelled `status` is not ignored: lower case, without blanks, list brackets
 * (`status[]`) and a leftover `amp;`.
 */
function normalizeFields(entries: Iterable<readonly [string, unknown]>): Field[] {
  return Array.from(entries, ([name, value]) => ({
    name: name
      .trim()
      .toLowerCase()
      .replace(/^amp;|\[\d{0,4}\]$/g, ""),
    value,
  }));
}

async function readBodyFields(request: Request, client: BodyClient): Promise<Field[]> {
  const { headers } = request;
  const isAbsent = !headers.has("transfer-encoding") && !Number(headers.get("content-length"));
  if (isAbsent) return [];
  if (isRead(request))
    throw invalidFieldError("body", `can't be read with ${request.method}; use POST`);
  assertNotCompressed(request);
  const bytes = await readBytes(request, client, requestBounds.pushReport.value);
  return bytes.length === 0 ? [] : parseBody(bytes, headers.get("content-type") ?? "");
}

async function parseBody(bytes: Uint8Array<ArrayBuffer>, contentType: string): Promise<Field[]> {
  const [type = ""] = contentType.toLowerCase().split(";");
  if (type.trim() === "multipart/form-data") return parseMultipart(bytes, contentType);
  const isJson = /^(application|text)\/([\w.-]+\+)?json$/.test(type.trim());
  if (!isJson && !["", "application/x-www-form-urlencoded"].includes(type.trim()))
    throw unsupportedError(
      "The body must be a form or JSON, or must be left out: the query can carry the report.",
    );
  const text = decodeBody(bytes, contentType).trim();
  // UTF-16 read as UTF-8 has a NUL in every name.
  if (text.includes("\0"))
    throw invalidFieldError("body", "must be in UTF-8, or its charset must be named");
  // curl sends JSON with the Content-Type of a form by default.
  return isJson || /^[{["]/.test(text) ? parseObject(text) : parseForm(text);
}

function decodeBody(bytes: Uint8Array, contentType: string): string {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    throw unsupportedError("The body must be in UTF-8.");
  }
}

function parseForm(text: string): Field[] {
  if (text !== "" && !text.includes("="))
    throw invalidFieldError(
      "body",
      "must be a form such as status=down&msg=Disk%20full, or a JSON object",
    );
  return parseFormFields(text);
}

function parseObject(text: string): Field[] {
  // Scripts send unescaped line breaks in JSON strings. Outside of strings, a blank is equivalent.
  const value = parseJsonText(text.replace(/\p{Cc}/gu, " "));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidFieldError("body", 'must be a JSON object such as {"status":"down"}');
  return normalizeFields(Object.entries(value));
}

async function parseMultipart(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<Field[]> {
  const body = new Response(bytes, { headers: { "Content-Type": contentType } });
  const form = await body.formData().catch(() => {
    throw invalidFieldError("body", "must be a complete form of the type multipart/form-data");
  });
  const entries = Array.from(form, async ([name, value]) => {
    return [name, typeof value === "string" ? value : await value.text()] as const;
  });
  return normalizeFields(await Promise.all(entries));
}

function unsupportedError(message: string): AppError {
  return new AppError("UNSUPPORTED_MEDIA_TYPE", message);
}
