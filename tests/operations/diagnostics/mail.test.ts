import { expect, test } from "bun:test";
import { systemClock } from "../../../src/core/time/clock.ts";
import type { SmtpSettings } from "../../../src/accounts/settings/schema.ts";
import { targetGuard } from "../../../src/core/security/target-guard.ts";
import { examineMailServer } from "../../../src/operations/diagnostics/mail.ts";
import { freePort } from "../../support/binary.ts";
import { mailServer, serverSays } from "../../support/mail-server.ts";
import { scriptedMailServer, smtpAt } from "../../support/scripted-mail-server.ts";

async function found(smtp: SmtpSettings | null, channels: string[] = []) {
  const findings = await examineMailServer(
    { organization: "Acme", smtp, channels },
    { targets: targetGuard(() => []), clock: systemClock },
  );
  expect(JSON.stringify(findings)).not.toContain(serverSays);
  return findings;
}

test("a server that greets is ok, and is sent nothing more", async () => {
  await using server = await scriptedMailServer();
  expect(await found(server.smtp())).toMatchObject([{ verdict: "ok" }]);
  expect(server.said.filter((word) => word !== "QUIT")).toEqual(["EHLO"]);
});

test("a missing mail server is a problem only for organizations with e-mail channels", async () => {
  expect(await found(null)).toEqual([]);
  expect(await found(null, ["On-call"])).toMatchObject([
    { verdict: "problem", message: "none is set in Acme, but alerts are to go by it: On-call" },
  ]);
});

test("a problem is reported with its setting", async () => {
  await using server = await mailServer({ users: { jo: "right" } }, { allowInsecureAuth: true });
  await using other = await scriptedMailServer({ greeting: "* OK IMAP4 ready" });
  const cases: [SmtpSettings, string, string][] = [
    [server.smtp({ user: "jo", password: "wrong" }), "refused the user name", "Settings → Mail"],
    [server.smtp({ user: "jo" }), "no password", "Settings → Mail server"],
    [server.smtp({ tls: "starttls" }), "certificate", "NODE_EXTRA_CA_CERTS"],
    [smtpAt(freePort()), "refused", "curl -v smtp://127.0.0.1"],
    [smtpAt(25, { host: "169.254.1.2" }), "link-local", "--allow-target 169.254.1.2/32"],
    [other.smtp(), "does not speak SMTP", "curl -v"],
  ];
  for (const [smtp, message, advice] of cases)
    expect(await found(smtp)).toMatchObject([
      {
        verdict: "problem",
        message: expect.stringContaining(message),
        advice: expect.stringContaining(advice),
      },
    ]);
});
