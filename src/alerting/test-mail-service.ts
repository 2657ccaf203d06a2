import type { Scope } from "../events/scope.ts";
import { timestamp } from "../core/clock.ts";
import { newId } from "../core/ids.ts";
import { consume } from "../http/rate-limit.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import { smtpAfter } from "../accounts/settings/service.ts";
import { findSettings } from "../accounts/settings/store.ts";
import { attempting, deliveryContext, type SendingContext } from "./attempt.ts";
import type { Message } from "./messages.ts";
import { sendAsMail } from "./providers/email.ts";
import type { NewTestMail, TestMail } from "./test-mail-schema.ts";

/** Sends one mail through the stored mail server or through one that is not saved yet, and tells what became of it. Throws VALIDATION_ERROR, RATE_LIMITED. */
export async function sendTestMail(
  scope: Scope,
  context: SendingContext & { testMailLimit: RateLimit },
  { to, smtp: patch }: NewTestMail,
): Promise<TestMail> {
  const { store, organizationId, actor } = scope;
  const smtp = await smtpAfter(scope, await findSettings(store, organizationId), patch);
  consume(context.testMailLimit, organizationId);
  const message = testMessage(newId(scope.clock()), scope.clock(), actor.name, context.origin());
  const cancelled = new AbortController().signal;
  const { attempt } = await attempting(context, { organization: organizationId }, () =>
    sendAsMail(message, [to], deliveryContext(context, cancelled, smtp)),
  );
  return { delivered: attempt.delivered, message: attempt.message };
}

function testMessage(id: string, now: number, by: string, origin: string): Message {
  return {
    id,
    type: "test",
    tone: "info",
    severity: "info",
    at: timestamp(now),
    title: "Test mail from Signalbox",
    lines: [`${by} sent this to see whether the mail server works. It does.`],
    facts: [],
    url: `${origin}/settings/mail-server`,
    problem: null,
    alerts: [],
  };
}
