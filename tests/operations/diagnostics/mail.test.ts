import { expect, test } from "bun:test";
import { readSystemClock } from "../../../src/core/time/clock.ts";
import type { SmtpSettings } from "../../../src/accounts/settings/schema.ts";
import { createTargetGuard } from "../../../src/core/security/target-guard.ts";
import { examineMailServer } from "../../../src/operations/diagnostics/mail.ts";
import { getFreePort } from "../../support/binary.ts";
import { startMailServer, serverSays } from "../../support/mail-server.ts";
import { startScriptedMailServer, buildSmtpSettings } from "../../support/scripted-mail-server.ts";

async function findOutcome(smtp: SmtpSettings | null, channels: string[] = []) {
  const findings = await examineMailServer(
    { organization: "Acme", smtp, channels },
    { targets: createTargetGuard(() => []), clock: readSystemClock },
  );
  expect(JSON.stringify(findings)).not.toContain(serverSays);
  return findings;
}

test("a server that greets is ok, and is sent nothing more", async () => {
  await using server = await startScriptedMailServer();
  expect(await findOutcome(server.smtp())).toMatchObject([{ verdict: "ok" }]);
  expect(server.said.filter((word) => word !== "QUIT")).toEqual(["EHLO"]);
});

test("a missing mail server is a problem only for organizations with e-mail channels", async () => {
  expect(await findOutcome(null)).toEqual([]);
  expect(await findOutcome(null, ["On-call"])).toMatchObject([
    { verdict: "problem", message: "none is set in Acme, but channels need it: On-call" },
  ]);
});

test("a problem is reported with its setting", async () => {
  await using server = await startMailServer(
    { users: { jo: "right" } },
    { allowInsecureAuth: true },
  );
  await using other = await startScriptedMailServer({ greeting: "* OK IMAP4 ready" });
  const cases: [SmtpSettings, string, string][] = [
    [server.smtp({ user: "jo", password: "wrong" }), "rejected the user name", "Settings → Mail"],
    [server.smtp({ user: "jo" }), "no password", "Settings → Mail server"],
    [server.smtp({ tls: "starttls" }), "certificate", "NODE_EXTRA_CA_CERTS"],
    [buildSmtpSettings(getFreePort()), "refused", "curl -v smtp://127.0.0.1"],
    [buildSmtpSettings(25, { host: "169.254.1.2" }), "link-local", "--allow-target 169.254.1.2/32"],
    [other.smtp(), "does not speak SMTP", "curl -v"],
  ];
  for (const [smtp, message, advice] of cases)
    expect(await findOutcome(smtp)).toMatchObject([
      {
        verdict: "problem",
        message: expect.stringContaining(message),
        advice: expect.stringContaining(advice),
      },
    ]);
});
