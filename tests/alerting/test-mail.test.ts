import { describe, expect, test } from "bun:test";
import { testAppliance } from "../support/appliance.ts";
import { startMailServer } from "../support/mail-server.ts";
import { signInMember } from "../support/people.ts";

const path = "/dashboard/settings/test-mail";
const settings = "/dashboard/api/v1/settings";

async function signInAdmin() {
  const appliance = await testAppliance();
  const { page } = await signInMember(appliance, "admin", { name: "Ada" });
  const send = async (body: object) => page("POST", path, { body });
  return { ...appliance, page, send };
}

const to = "ada@team.example";

describe("a test mail", () => {
  test("is sent through the configured mail server", async () => {
    await using server = await startMailServer(
      { users: { box: "s3cret" } },
      { allowInsecureAuth: true },
    );
    const { page, send } = await signInAdmin();
    await page("PATCH", settings, {
      body: { smtp: server.smtp({ user: "box", password: "s3cret" }) },
    });
    const { status, json } = await send({ to });
    expect([status, json.data]).toEqual([200, { delivered: true, message: "Delivered." }]);
    const mail = server.getOnlyMail();
    expect([mail.to, mail.user, mail.headers["subject"]]).toEqual([
      [to],
      "box",
      ["Test mail from Signalbox"],
    ]);
    expect(mail.text).toContain("Ada sent this to test the mail server. It works.");
    expect(mail.text).toContain("http://signalbox.lan:3210/settings/mail-server");
  });

  test("tests a mail server before it is saved, and stores nothing of it", async () => {
    await using server = await startMailServer();
    const { page, send } = await signInAdmin();
    const { json } = await send({ to, smtp: server.smtp() });
    expect(json.data.delivered).toBe(true);
    expect((await page("GET", settings)).json.data.smtp).toBeNull();
  });

  test("requires no stored secret of another authentication method", async () => {
    await using server = await startMailServer(
      { users: { box: "s3cret" } },
      { allowInsecureAuth: true },
    );
    const { page, send } = await signInAdmin();
    const app = { tenant: "team.onmicrosoft.com", clientId: "app", clientSecret: "s3cret" };
    const stored = { host: "mail.lan", from: to, user: "box", auth: "microsoft", ...app };
    expect((await page("PATCH", settings, { body: { smtp: stored } })).status).toBe(200);
    const { host, port, tls } = server.smtp();
    const smtp = { host, port, tls, auth: "password", password: "s3cret" };
    const { status, json } = await send({ to, smtp });
    expect([status, json.data?.delivered]).toEqual([200, true]);
  });

  test("uses the stored password if the unsaved settings have none", async () => {
    await using server = await startMailServer(
      { users: { box: "s3cret" } },
      { allowInsecureAuth: true },
    );
    const { page, send } = await signInAdmin();
    await page("PATCH", settings, {
      body: { smtp: server.smtp({ user: "box", password: "s3cret" }) },
    });
    const { json } = await send({ to, smtp: { from: "new@team.example" } });
    expect(json.data.delivered).toBe(true);
    expect(server.getOnlyMail().from).toBe("new@team.example");
  });

  test("reports why it was not sent", async () => {
    await using server = await startMailServer(
      { users: { box: "s3cret" } },
      { allowInsecureAuth: true },
    );
    const { send } = await signInAdmin();
    const wrong = await send({ to, smtp: server.smtp({ user: "box", password: "wrong" }) });
    expect([wrong.status, wrong.json.data]).toEqual([
      200,
      { delivered: false, message: "The mail server rejected the user name or password." },
    ]);
    expect((await send({ to })).json.data).toEqual({
      delivered: false,
      message: "No mail server is set up; see Settings.",
    });
  });

  test("names the invalid field, like saving does", async () => {
    const { send } = await signInAdmin();
    const readPaths = async (body: object) =>
      (await send(body)).json.error.details.map(({ path }: { path: string }) => path);
    expect(await readPaths({ to: "nobody" })).toEqual(["to"]);
    expect(await readPaths({ to, smtp: { host: "mail.lan" } })).toEqual(["smtp.from"]);
    const blocked = { host: "169.254.169.254", from: "box@team.example" };
    expect(await readPaths({ to, smtp: blocked })).toEqual(["smtp.host"]);
  });

  test("is for admins, and limited per minute", async () => {
    const { send, ...appliance } = await signInAdmin();
    const { page } = await signInMember(appliance as Parameters<typeof signInMember>[0], "member");
    expect((await page("POST", path, { body: { to } })).status).toBe(403);
    const statuses = [];
    for (let count = 0; count < 7; count++) statuses.push((await send({ to })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
    appliance.time.now += 60_000;
    expect((await send({ to })).status).toBe(200);
  });
});
