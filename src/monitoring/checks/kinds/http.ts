import type { Connection } from "../../../core/outgoing/connection.ts";
import { TargetFailure } from "../../../core/outgoing/failures.ts";
import { named } from "../../../core/outgoing/http-answer.ts";
import { type HttpRequest, send, type Transport } from "../../../core/outgoing/http-request.ts";
import type { SavedValue } from "../../../core/placeholders.ts";
import {
  conditionsOf,
  isSearch,
  type Issue,
  issueOf,
  secretsOf,
  type Secrets,
} from "../assertions.ts";
import { type CheckContext, type CheckKind, daysUntil, expiryOf, since } from "../check.ts";
import { securedDetails } from "../conversation.ts";
import { type ByteAllowance, wantedOf } from "./http-body.ts";
import { savedValue } from "./http-saved.ts";
import { type Asking, bearerOf, isOwn, requestOf, transportOf } from "./http-steps.ts";
import { tokenOf } from "./http-token.ts";

const maxRedirects = 5;
/** So much of all answers together is read; of each no more than the first 1 MiB. */
const maxBytes = 4 * 1024 * 1024;
type Settings = Parameters<CheckKind<"http">>[0];

/** What the requests of one check share. */
type Run = {
  settings: Settings;
  transport: Transport;
  context: CheckContext;
  token: ReturnType<typeof tokenOf> | null;
  /** Variables, and what was saved of answers. */
  values: Map<string, SavedValue>;
  secrets: Secrets;
  allowance: ByteAllowance;
};

/** Up when the last answer to each request fulfils all of its conditions. */
export const checkHttp: CheckKind<"http"> = async (settings, context) => {
  const { oauth2, verifyTls, steps, certificateExpiryDays } = settings;
  const transport = transportOf(settings);
  const token = oauth2 === null ? null : tokenOf(oauth2, { verifyTls, transport }, context);
  const values = new Map<string, SavedValue>(Object.entries(settings.variables));
  const secrets = () => [
    ...secretsOf(settings),
    ...(token?.secrets() ?? []),
    ...[...values.values()].map(String),
  ];
  const allowance = { left: maxBytes };
  const run: Run = { settings, transport, context, token, values, secrets, allowance };
  const begin = (name: string | null, number: number) => {
    if (steps.length > 0) context.part = `Step ${number}${name === null ? "" : ` (${name})`}`;
  };
  begin(null, 1);
  let done = await made(settings, run);
  let { latencyMs, expiresAt } = done;
  for (const [index, step] of steps.entries()) {
    begin(step.name, index + 2);
    done = await made(step, run);
    latencyMs += done.latencyMs;
    expiresAt = earliest(expiresAt, done.expiresAt);
  }
  const expiry = expiryOf(expiresAt, certificateExpiryDays, context.now());
  const usual =
    steps.length === 0
      ? `${named(done.status)} in ${latencyMs} ms, first byte after ${done.firstByteMs} ms.`
      : `${steps.length + 1} steps in ${latencyMs} ms, the last ${named(done.status)}.`;
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
};

/** One request with its redirects, judged, and what is to be saved of its answer. Throws TargetFailure, OwnTrouble. */
async function made(asking: Asking, run: Run): Promise<Done> {
  const { settings, transport, context, values, secrets, allowance } = run;
  const token = isOwn(asking, settings) ? run.token : null;
  const conditions = conditionsOf(asking);
  const isSaved = asking.save.some(({ source }) => source !== "header");
  const wanted = wantedOf(conditions, secrets, isSaved);
  let accessToken = (await token?.get()) ?? null;
  const next = () => requestOf(asking, settings, transport, accessToken, values);
  let request = next();
  let startedAt = performance.now();
  let expiresAt: string | undefined;
  for (let redirects = 0; ; redirects++) {
    const { answer, connection, isPublic } = await send(request, context);
    const firstByteMs = since(startedAt);
    expiresAt = earliest(expiresAt, connection.secured?.certificateExpiresAt ?? undefined);
    const { status, headers } = answer;
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
    const location = headers.get("location");
    if (settings.followRedirects && isRedirect(status) && location !== undefined) {
      connection.close();
      if (redirects === maxRedirects)
        throw new TargetFailure(`Redirected more than ${maxRedirects} times.`);
      const target = nextRequest(request, status, location);
      request = { ...target, onlyPublic: isPublic && settings.followToPrivate !== true };
      continue;
    }
    const mustHold = (issue: Issue | null) => {
      if (issue === null) return;
      const sentence = (words: string) => `${named(status)}, ${words}.`;
      throw new TargetFailure(sentence(issue.told), false, issue.said && sentence(issue.said));
    };
    const mustFulfil = async (known: Readonly<Record<string, (path: string) => unknown>>) => {
      for (const condition of conditions) {
        const value = known[condition.source]?.(condition.path ?? "");
        if (condition.source in known)
          mustHold(await issueOf(condition, { value }, secrets, context));
      }
    };
    // A search may wait for its turn, and what arrives meanwhile would be kept.
    const waits = conditions.some(({ source, op }) => source === "header" && isSearch(op));
    if (waits) answer.pause();
    await mustFulfil({
      status: () => status,
      header: (name) => headers.get(name.toLowerCase()),
      redirectCount: () => redirects,
      certificateDays: () => daysUntil(expiresAt, context.now()),
    });
    if (waits) answer.resume();
    context.step = "reading the answer";
    const body = await wanted.reading(answer, context, allowance);
    connection.close();
    const latencyMs = since(startedAt);
    mustHold(await body.issue());
    await mustFulfil({ latency: () => latencyMs });
    for (const saved of asking.save) {
      const { name, source, path } = saved;
      const received =
        source === "header"
          ? { value: headers.get((path ?? "").toLowerCase()) }
          : body.received({ source, path });
      values.set(name, await savedValue(saved, received, named(status), context));
    }
    body.drop();
    return { status, latencyMs, firstByteMs, expiresAt, secured: connection.secured };
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/**
 * What a redirect makes of a request (RFC 9110 §15.4). Another origin is only ever asked for something,
 * and without the monitor's headers, which may hold credentials.
 */
function nextRequest(before: HttpRequest, status: number, location: string): HttpRequest {
  const { url, method, body, headers } = before;
  const next = URL.parse(location, url);
  if (next === null || (next.protocol !== "http:" && next.protocol !== "https:"))
    throw new TargetFailure("Redirected to something that is not an http or https address.");
  const stays = next.origin === url.origin;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  if (!stays && !becomesGet && body !== null)
    throw new TargetFailure(
      "Redirected to another origin, to which the request's body is not sent.",
    );
  if (!stays && !becomesGet && method !== "GET" && method !== "HEAD")
    throw new TargetFailure(
      "Redirected to another origin, to which only GET and HEAD requests are sent.",
    );
  return {
    ...before,
    url: next,
    method: becomesGet ? "GET" : method,
    body: becomesGet ? null : body,
    headers: stays ? headers : {},
  };
}

function earliest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}
