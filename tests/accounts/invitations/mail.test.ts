import { expect, test } from "bun:test";
import { testAppliance } from "../../support/appliance.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { signInMember } from "../../support/people.ts";

const invited = { email: "bob@team.example", role: "member" };

async function signInAdmin() {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin", { name: "Ada" });
  const invite = (headers: Record<string, string> = {}) =>
    page("POST", "/dashboard/invitations", { body: invited, headers });
  const setSmtp = (smtp: object) => page("PATCH", "/dashboard/api/v1/settings", { body: { smtp } });
  return { appliance, page, invite, setSmtp };
}

test("an invitation is mailed with its link, once per request", async () => {
  await using server = await startMailServer();
  const { page, invite, setSmtp } = await signInAdmin();
  await setSmtp(server.smtp());
  const key = { "Idempotency-Key": "0197a5c4-0000-7000-8000-00000000abcd" };
  const { status, json } = await invite(key);
  expect([status, json.data.mail]).toEqual([201, { delivered: true, message: "Delivered." }]);
  expect((await invite(key)).json.data.link).toBe(json.data.link);
  const mail = server.getOnlyMail();
  expect(mail.to).toEqual([invited.email]);
  expect(mail.headers["subject"]?.[0]).toStartWith("Ada invites you to ");
  expect(mail.text).toContain(json.data.link);
  const token = new URL(json.data.link).hash.slice(1);
  const look = await page("POST", "/dashboard/invitations/look", { body: { token } });
  expect(look.json.data.email).toBe(invited.email);
});

test("an invitation stays valid if its mail fails, or without a mail server", async () => {
  const { page, invite, setSmtp } = await signInAdmin();
  const without = (await invite()).json.data;
  await using server = await startMailServer();
  await setSmtp({ ...server.smtp(), host: "127.0.0.1", port: 1 });
  const failed = (await invite()).json.data;
  expect([without.mail, failed.mail.delivered]).toEqual([null, false]);
  expect(failed.mail.message).not.toBe("");
  const token = new URL(failed.link).hash.slice(1);
  const look = await page("POST", "/dashboard/invitations/look", { body: { token } });
  expect(look.status).toBe(200);
});
