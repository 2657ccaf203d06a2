/** Examines the mail server of an organization. */
import type { DeliveryContext } from "../../alerting/provider.ts";
import { tryMailServer } from "../../alerting/providers/email.ts";
import { dayMs } from "../../core/time/clock.ts";
import {
  createOkFinding,
  type Finding,
  createProblemFinding,
  createWarningFinding,
} from "../../core/finding.ts";
import { createAccessTokenCache } from "../../core/outgoing/access-tokens.ts";
import { capitalize } from "../../core/text/formatting.ts";
import { exchange } from "../../core/outgoing/http/exchange.ts";
import type { MailServer } from "./destinations.ts";
import {
  adviseOnFailure,
  adviseOnCertificate,
  formatNames,
  createConnectionContext,
  type ConnectionOptions,
  describeFailure,
} from "./hosts.ts";
import { renewalDays } from "./certificate.ts";

const settings = "Correct it under Settings → Mail server, and send a test mail from there.";

/** Connects and signs in with the organization's credentials, as for a mail, but sends none. */
export async function examineMailServer(
  { organization, smtp, channels }: MailServer,
  reaching: ConnectionOptions,
): Promise<Finding[]> {
  if (smtp === null) {
    if (channels.length === 0) return [];
    const message = `none is set in ${organization}, but channels need it: ${formatNames(channels)}`;
    return [createProblemFinding("mail server", message, "Name one under Settings → Mail server.")];
  }
  const subject = `${smtp.host}:${smtp.port}`;
  const whose = `it is the mail server of ${organization}`;
  const context: DeliveryContext = {
    ...createConnectionContext(reaching),
    now: reaching.clock(),
    exchange,
    smtp,
    accessTokens: createAccessTokenCache(),
    vapid: null,
    progress: null,
    messageTo: null,
  };
  try {
    const { verdict, certificateEnds } = await tryMailServer(smtp, context);
    if (verdict.outcome === "failed")
      return [createProblemFinding(subject, `${verdict.reason} ${capitalize(whose)}`, settings)];
    const user = smtp.user === null ? "asks for no user" : "accepts the user and the credentials";
    if (certificateEnds === null)
      return [createOkFinding(subject, `${user}, not encrypted; ${whose}`)];
    const days = Math.floor((certificateEnds.getTime() - reaching.clock()) / dayMs);
    const message = `${user}, its certificate is valid for ${days} days; ${whose}`;
    return [
      days < renewalDays
        ? createWarningFinding(
            subject,
            message,
            `The operator of ${smtp.host} must renew it before then.`,
          )
        : createOkFinding(subject, message),
    ];
  } catch (error) {
    const message = describeFailure(error);
    const advice = message.includes("certificate")
      ? adviseOnCertificate(smtp.host)
      : adviseOnFailure(error, `smtp://${subject}`);
    return [createProblemFinding(subject, `${message} ${capitalize(whose)}`, advice)];
  }
}
