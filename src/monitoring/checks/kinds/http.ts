/** The HTTP check: sends a request and optional further steps, and judges each response by conditions. */
import type { Connection } from "../../../core/outgoing/connection.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { type HttpAnswer, named } from "../../../core/outgoing/http/response.ts";
import { fieldText } from "../../../core/outgoing/http/head.ts";
import { send, type Transport } from "../../../core/outgoing/http/request.ts";
import type { SavedValue } from "../../../core/text/placeholders.ts";
import {
  type Condition,
  conditionsOf,
  isSearch,
  type Issue,
  issueOf,
  secretsOf,
  type Secrets,
} from "../protocols/assertions.ts";
import { type CheckContext, type CheckKind, daysUntil, expiryOf, since } from "../check.ts";
import { securedDetails } from "../protocols/conversation.ts";
import { type ByteAllowance, readBody, usualPatienceMs } from "./http-body.ts";
import { CookieJar } from "./http-cookies.ts";
import { isRedirect, nextRequest } from "./http-redirects.ts";
import { savedValue } from "./http-saved.ts";
import { type Asking, bearerOf, isOwn, requestOf, transportOf } from "./http-steps.ts";
import { tokenOf } from "./http-token.ts";

const maxRedirects = 5;
/** Maximum total size of the responses of a check. Each response is read up to 1 MiB. */
const maxBytes = 4 * 1024 * 1024;
const partlySearched = "; only the first 1 MiB of the answer was searched for what must be absent";
type Settings = Parameters<CheckKind<"http">>[0];

/** State shared by the requests of one check. */
type Run = {
  settings: Settings;
  transport: Transport;
  context: CheckContext;
  token: ReturnType<typeof tokenOf> | null;
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
  const transport = transportOf(settings);
  const token = oauth2 === null ? null : tokenOf(oauth2, { verifyTls, transport }, context);
  const values = new Map<string, SavedValue>(Object.entries(settings.variables));
  const cookies = new CookieJar();
  const secrets = () => [
    ...secretsOf(settings),
    ...(token?.secrets() ?? []),
    ...cookies.secrets(),
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
    secrets,
    allowance,
    cookies,
    startedAt,
  };
  const begin = (name: string | null, number: number) => {
    if (steps.length > 0) context.part = `Step ${number}${name === null ? "" : ` (${name})`}`;
  };
  begin(null, 1);
  let done = await runRequest(settings, run);
  let { latencyMs, expiresAt, isPartlySearched } = done;
  for (const [index, step] of steps.entries()) {
    begin(step.name, index + 2);
    done = await runRequest(step, run);
    latencyMs += done.latencyMs;
    expiresAt = earliest(expiresAt, done.expiresAt);
    isPartlySearched ||= done.isPartlySearched;
  }
  const { secured } = done;
  const first = secured?.certificateExpiresAt === expiresAt ? secured?.expires : undefined;
  const expiry = expiryOf(expiresAt, certificateExpiryDays, context.now(), first);
  const words =
    steps.length === 0
      ? `${named(done.status)} in ${latencyMs} ms, first byte after ${done.firstByteMs} ms`
      : `${steps.length + 1} steps in ${latencyMs} ms, the last ${named(done.status)}`;
  const usual = `${words}${isPartlySearched ? partlySearched : ""}.`;
  return {
    status: expiry === null ? "up" : "degraded",
    message: expiry ?? usual,
    latencyMs,
    ...(expiresAt !== undefined && { certificateExpiresAt: expiresAt }),
    details: securedDetails(done.secured),
  };
};

type Done = {
  status: number;
  latencyMs: number;
  firstByteMs: number;
  expiresAt: string | undefined;
  secured: Connection["secured"];
  isPartlySearched: boolean;
};

/** Sends one request, follows redirects, judges the response and saves values. Throws TargetFailure, OwnTrouble. */
async function runRequest(asking: Asking, run: Run): Promise<Done> {
  const { context, values } = run;
  const final = await finalResponse(asking, run);
  const { answer, connection, startedAt, firstByteMs, expiresAt } = final;
  const conditions = conditionsOf(asking);
  await judgeHead(conditions, final, run);
  context.step = "reading the answer";
  const isSaved = asking.save.some(({ source }) => source !== "header");
  const body = await readBody(answer, { conditions, secrets: run.secrets, isSaved }, context, {
    allowance: run.allowance,
    patienceMs: patienceFor(conditions, run),
  });
  connection.close();
  const latencyMs = since(startedAt);
  mustHold(answer, await body.issue());
  await mustFulfil(conditions, answer, run, { latency: () => latencyMs });
  for (const saved of asking.save) {
    const { name, source, path } = saved;
    const received =
      source === "header"
        ? { value: headerIn(answer, path ?? "") }
        : body.received({ source, path });
    values.set(name, await savedValue(saved, received, named(answer.status), context));
  }
  body.drop();
  const { isPartlySearched } = body;
  const { secured } = connection;
  return { status: answer.status, latencyMs, firstByteMs, expiresAt, secured, isPartlySearched };
}

type Final = Pick<Awaited<ReturnType<typeof send>>, "answer" | "connection"> & {
  startedAt: number;
  firstByteMs: number;
  redirects: number;
  expiresAt: string | undefined;
};

/** Returns the response after all redirects. A 401 response to a cached access token is retried once with a new one. */
async function finalResponse(asking: Asking, run: Run): Promise<Final> {
  const { settings, transport, context, values, cookies } = run;
  const token = isOwn(asking, settings) ? run.token : null;
  let accessToken = (await token?.get()) ?? null;
  const next = () => requestOf(asking, settings, transport, accessToken, values);
  let request = next();
  let startedAt = performance.now();
  let expiresAt: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const { answer, connection, isPublic } = await send(cookies.addTo(request), context);
    const firstByteMs = since(startedAt);
    expiresAt = earliest(expiresAt, connection.secured?.certificateExpiresAt ?? undefined);
    const { status, headers, setCookies } = answer;
    if (setCookies.length > 0) cookies.store(setCookies, request.url, context.now());
    if (
      status === 401 &&
      accessToken !== null &&
      request.headers["Authorization"] === bearerOf(accessToken) &&
      token?.renew() === true
    ) {
      connection.close();
      accessToken = await token.get();
      request = next();
      startedAt = performance.now();
      redirects = -1;
      continue;
    }
    const location = headers.get("location") ?? "";
    if (!settings.followRedirects || !isRedirect(status) || location === "")
      return { answer, connection, startedAt, firstByteMs, redirects, expiresAt };
    connection.close();
    if (redirects === maxRedirects)
      throw new TargetFailure(`Redirected more than ${maxRedirects} times.`);
    const target = nextRequest(request, status, location);
    request = { ...target, onlyPublic: isPublic && settings.followToPrivate !== true };
  }
}

const headerIn = ({ headers }: HttpAnswer, name: string): string | undefined => {
  const value = headers.get(name.toLowerCase());
  return value === undefined ? undefined : fieldText(value);
};

/** Throws TargetFailure for a violated condition. */
function mustHold({ status }: HttpAnswer, issue: Issue | null) {
  if (issue === null) return;
  const sentence = (words: string) => `${named(status)}, ${words}.`;
  throw new TargetFailure(sentence(issue.message), false, issue.said && sentence(issue.said));
}

type Known = Readonly<Record<string, (path: string) => unknown>>;

/** Judges the conditions on the sources in `known`. Throws TargetFailure for a violated one. */
async function mustFulfil(
  conditions: readonly Condition[],
  answer: HttpAnswer,
  { secrets, context }: Run,
  known: Known,
) {
  for (const condition of conditions) {
    const value = known[condition.source]?.(condition.path ?? "");
    if (condition.source in known)
      mustHold(answer, await issueOf(condition, { value }, secrets, context));
  }
}

/** Judges all conditions that do not need the body. Throws TargetFailure for a violated one. */
async function judgeHead(
  conditions: readonly Condition[],
  { answer, redirects, expiresAt }: Final,
  run: Run,
) {
  // A search can wait in a queue. Pause the response, so that incoming data does not fill the memory.
  const waits = conditions.some(({ source, op }) => source === "header" && isSearch(op));
  if (waits) answer.pause();
  await mustFulfil(conditions, answer, run, {
    status: () => answer.status,
    header: (name) => headerIn(answer, name),
    redirectCount: () => redirects,
    certificateDays: () => daysUntil(expiresAt, run.context.now()),
  });
  if (waits) answer.resume();
}

/**
 * Returns how long to read a body of unknown length after all other conditions are decided, in milliseconds. The time
 * exceeds every latency limit, so that a slow body violates it. It stays within the timeout of the check.
 */
function patienceFor(conditions: readonly Condition[], { context, startedAt }: Run): number {
  const latencies = conditions
    .filter(({ source }) => source === "latency")
    .map(({ value }) => Number(value) + 1);
  const wanted = Math.max(usualPatienceMs, ...latencies, (context.degradedAfterMs ?? 0) + 1);
  return Math.min(wanted, (context.timeoutMs - since(startedAt)) * 0.8);
}

function earliest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}
