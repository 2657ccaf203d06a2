/** The HTTP check: sends a request and optional further steps, and judges each response by conditions. */
import type { Connection } from "../../../core/outgoing/connection.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { type HttpResponse, formatStatus } from "../../../core/outgoing/http/response.ts";
import { decodeField } from "../../../core/outgoing/http/head.ts";
import { send, type Transport } from "../../../core/outgoing/http/request.ts";
import type { SavedValue } from "../../../core/text/placeholders.ts";
import {
  type Condition,
  buildConditions,
  isSearch,
  type Issue,
  findIssue,
  secretsOf,
  type Secrets,
} from "../protocols/assertions.ts";
import {
  type CheckContext,
  type CheckKind,
  type MeasuredValue,
  countDaysUntil,
  describeExpiry,
  measureElapsedMs,
} from "../check.ts";
import { buildSecuredDetails } from "../protocols/conversation.ts";
import { type ByteAllowance, readBody, defaultPatienceMs } from "./http-body.ts";
import { CookieJar } from "./http-cookies.ts";
import { isRedirect, buildRedirectedRequest } from "./http-redirects.ts";
import { extractSavedValue } from "./http-saved-values.ts";
import {
  type StepRequest,
  formatBearer,
  isOwn,
  buildRequest,
  buildTransport,
} from "./http-steps.ts";
import { createTokenSource } from "./http-token.ts";

const maxRedirects = 5;
/** Maximum total size of the responses of a check. Each response is read up to 1 MiB. */
const maxBytes = 4 * 1024 * 1024;
const partlySearchedNote =
  "; only the first 1 MiB of the response was searched for the text that must be absent";
type Settings = Parameters<CheckKind<"http">>[0];

/** State shared by the requests of one check. */
type Run = {
  settings: Settings;
  transport: Transport;
  context: CheckContext;
  token: ReturnType<typeof createTokenSource> | null;
  /** Variables, and values saved from responses. */
  values: Map<string, SavedValue>;
  secrets: Secrets;
  allowance: ByteAllowance;
  cookies: CookieJar;
  /** Start of the check, by performance.now(). */
  startedAt: number;
};

/** Up when the final response to each request satisfies all conditions of that request. */
export const checkHttp: CheckKind<"http"> = async (settings, context) => {
  const { oauth2, verifyTls, steps, certificateExpiryDays } = settings;
  const transport = buildTransport(settings);
  const token =
    oauth2 === null ? null : createTokenSource(oauth2, { verifyTls, transport }, context);
  const values = new Map<string, SavedValue>(Object.entries(settings.variables));
  const cookies = new CookieJar();
  const listAllSecrets = () => [
    ...secretsOf(settings),
    ...(token?.secrets() ?? []),
    ...cookies.listSecrets(),
    ...[...values.values()].map(String),
  ];
  const allowance = { left: maxBytes };
  const startedAt = performance.now();
  const run: Run = {
    settings,
    transport,
    context,
    token,
    values,
    secrets: listAllSecrets,
    allowance,
    cookies,
    startedAt,
  };
  const startStep = (name: string | null, number: number) => {
    if (steps.length > 0) context.part = `Step ${number}${name === null ? "" : ` (${name})`}`;
  };
  startStep(null, 1);
  let done = await runRequest(settings, run, steps.length === 0);
  let { latencyMs, expiresAt, isPartlySearched } = done;
  for (const [index, step] of steps.entries()) {
    startStep(step.name, index + 2);
    done = await runRequest(step, run, index === steps.length - 1);
    latencyMs += done.latencyMs;
    expiresAt = pickEarliest(expiresAt, done.expiresAt);
    isPartlySearched ||= done.isPartlySearched;
  }
  const { secured } = done;
  const first = secured?.certificateExpiresAt === expiresAt ? secured?.expires : undefined;
  const expiry = describeExpiry(expiresAt, certificateExpiryDays, context.now(), first);
  const words =
    steps.length === 0
      ? `${formatStatus(done.status)} in ${latencyMs} ms, first byte after ${done.firstByteMs} ms`
      : `${steps.length + 1} steps in ${latencyMs} ms, the last ${formatStatus(done.status)}`;
  const defaultText = `${words}${isPartlySearched ? partlySearchedNote : ""}.`;
  return {
    status: expiry === null ? "up" : "degraded",
    message: expiry ?? defaultText,
    latencyMs,
    ...(expiresAt !== undefined && { certificateExpiresAt: expiresAt }),
    details: buildSecuredDetails(done.secured),
    ...(done.measured && { measured: done.measured }),
  };
};

type Done = {
  status: number;
  latencyMs: number;
  firstByteMs: number;
  expiresAt: string | undefined;
  secured: Connection["secured"];
  isPartlySearched: boolean;
  measured: MeasuredValue | null;
};

/**
 * Sends one request, follows redirects, judges the response and saves values. The last response contains the monitor's
 * number. Throws TargetFailure, LocalFailure.
 */
async function runRequest(stepRequest: StepRequest, run: Run, isLast: boolean): Promise<Done> {
  const { context, values } = run;
  const number = isLast ? run.settings.number : null;
  const final = await fetchFinalResponse(stepRequest, run);
  const { response, connection, startedAt, firstByteMs, expiresAt } = final;
  const conditions = buildConditions(stepRequest);
  await judgeHead(conditions, final, run);
  context.step = "reading the response";
  const isSaved = number !== null || stepRequest.save.some(({ source }) => source !== "header");
  const body = await readBody(response, { conditions, secrets: run.secrets, isSaved }, context, {
    allowance: run.allowance,
    patienceMs: computePatience(conditions, run),
  });
  connection.close();
  const latencyMs = measureElapsedMs(startedAt);
  assertNoIssue(response, await body.issue());
  await assertFulfilled(conditions, response, run, { latency: () => latencyMs });
  for (const saved of stepRequest.save) {
    const { name, source, path } = saved;
    const received =
      source === "header"
        ? { value: readHeader(response, path ?? "") }
        : body.received({ source, path });
    values.set(
      name,
      await extractSavedValue(saved, received, formatStatus(response.status), context),
    );
  }
  const measured =
    number === null
      ? null
      : body.received({ source: number.path === null ? "body" : "json", path: number.path });
  body.drop();
  const { isPartlySearched } = body;
  const { secured } = connection;
  const { status } = response;
  return { status, latencyMs, firstByteMs, expiresAt, secured, isPartlySearched, measured };
}

type FinalResponse = Pick<Awaited<ReturnType<typeof send>>, "response" | "connection"> & {
  startedAt: number;
  firstByteMs: number;
  redirects: number;
  expiresAt: string | undefined;
};

/** Returns the response after all redirects. A 401 response to a cached access token is retried once with a new one. */
async function fetchFinalResponse(step: StepRequest, run: Run): Promise<FinalResponse> {
  const { settings, transport, context, values, cookies } = run;
  const token = isOwn(step, settings) ? run.token : null;
  let accessToken = (await token?.get()) ?? null;
  const buildNextRequest = () => buildRequest(step, settings, transport, accessToken, values);
  let request = buildNextRequest();
  let startedAt = performance.now();
  let expiresAt: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const { response, connection, isPublic } = await send(cookies.addToRequest(request), context);
    const firstByteMs = measureElapsedMs(startedAt);
    expiresAt = pickEarliest(expiresAt, connection.secured?.certificateExpiresAt ?? undefined);
    const { status, headers, setCookies } = response;
    if (setCookies.length > 0) cookies.store(setCookies, request.url, context.now());
    if (
      status === 401 &&
      accessToken !== null &&
      request.headers["Authorization"] === formatBearer(accessToken) &&
      token?.renew() === true
    ) {
      connection.close();
      accessToken = await token.get();
      request = buildNextRequest();
      startedAt = performance.now();
      redirects = -1;
      continue;
    }
    const location = headers.get("location") ?? "";
    if (!settings.followRedirects || !isRedirect(status) || location === "")
      return { response, connection, startedAt, firstByteMs, redirects, expiresAt };
    connection.close();
    if (redirects === maxRedirects)
      throw new TargetFailure(`Redirected more than ${maxRedirects} times.`);
    const target = buildRedirectedRequest(request, status, location);
    request = { ...target, onlyPublic: isPublic && settings.followToPrivate !== true };
  }
}

const readHeader = ({ headers }: HttpResponse, name: string): string | undefined => {
  const value = headers.get(name.toLowerCase());
  return value === undefined ? undefined : decodeField(value);
};

/** Throws TargetFailure for a violated condition. */
function assertNoIssue({ status }: HttpResponse, issue: Issue | null) {
  if (issue === null) return;
  const formatSentence = (words: string) => `${formatStatus(status)}, ${words}.`;
  throw new TargetFailure(
    formatSentence(issue.message),
    false,
    issue.serverText && formatSentence(issue.serverText),
  );
}

type KnownSources = Readonly<Record<string, (path: string) => unknown>>;

/** Judges the conditions on the sources in `known`. Throws TargetFailure for a violated one. */
async function assertFulfilled(
  conditions: readonly Condition[],
  response: HttpResponse,
  { secrets, context }: Run,
  known: KnownSources,
) {
  for (const condition of conditions) {
    const value = known[condition.source]?.(condition.path ?? "");
    if (condition.source in known)
      assertNoIssue(response, await findIssue(condition, { value }, secrets, context));
  }
}

/** Judges all conditions that do not need the body. Throws TargetFailure for a violated one. */
async function judgeHead(
  conditions: readonly Condition[],
  { response, redirects, expiresAt }: FinalResponse,
  run: Run,
) {
  // A search can wait in a queue. Pause the response, so that incoming data does not fill the memory.
  const hasHeaderSearch = conditions.some(({ source, op }) => source === "header" && isSearch(op));
  if (hasHeaderSearch) response.pause();
  await assertFulfilled(conditions, response, run, {
    status: () => response.status,
    header: (name) => readHeader(response, name),
    redirectCount: () => redirects,
    certificateDays: () => countDaysUntil(expiresAt, run.context.now()),
  });
  if (hasHeaderSearch) response.resume();
}

/**
 * Returns how long to read a body of unknown length after all other conditions are decided, in milliseconds. The time
 * exceeds every latency limit, so that a slow body violates it. It stays within the timeout of the check.
 */
function computePatience(conditions: readonly Condition[], { context, startedAt }: Run): number {
  const latencies = conditions
    .filter(({ source }) => source === "latency")
    .map(({ value }) => Number(value) + 1);
  const patienceMs = Math.max(defaultPatienceMs, ...latencies, (context.degradedAfterMs ?? 0) + 1);
  return Math.min(patienceMs, (context.timeoutMs - measureElapsedMs(startedAt)) * 0.8);
}

function pickEarliest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}
