import { expect, test } from "bun:test";
import { mailServer } from "../support/mail-server.ts";
import { visitor } from "../support/visitor.ts";

/** A page whose visitors can subscribe by e-mail. */
async function publisher() {
  const server = await mailServer();
  const made = await visitor({ allowTarget: ["127.0.0.1/32"] });
  const { api, notices, alerts } = made;
  const smtp = server.smtp();
  expect((await api("PATCH", "/api/v1/settings", { body: { smtp } })).status).toBe(200);
  const { id } = await made.publish({ title: "Acme status" });
  return {
    ...made,
    pageId: id,
    mails: server.mails,
    signUp: (email: string) =>
      made.get("/status/ours/subscribe", { method: "POST", form: { email } }),
    /** Tells what happened and sends what is due. */
    send: async () => {
      await notices.runOnce();
      await alerts.runOnce();
    },
    subscribers: async () =>
      (await api("GET", `/api/v1/status-pages/${id}/subscribers`)).json.data as any[],
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The path of the link with this verb in a mail. */
const linkIn = (text: string, verb: string) =>
  new RegExp(`http://[^/]+(/status/ours/${verb}/[\\w.-]+)`).exec(text)?.[1] ?? "";

test("a mailbox is asked, says yes, is told, and leaves with one click", async () => {
  await using made = await publisher();
  const { mails, signUp, send, get, subscribers } = made;
  expect((await signUp("Ann@Team.example")).status).toBe(200);
  await made.incident({ title: "Before the yes" });
  await send();
  expect(mails.map(({ to, headers }) => [to, headers["subject"]])).toEqual([
    [["Ann@Team.example"], ["Confirm updates from Acme status"]],
  ]);
  expect(await subscribers()).toMatchObject([{ status: "pending", email: "Ann@Team.example" }]);

  made.time.now += 1000;
  const confirm = linkIn(mails[0]?.text ?? "", "confirm");
  expect((await get(confirm)).text).toContain("Confirm");
  expect(await subscribers()).toMatchObject([{ status: "pending" }]);
  expect((await get(confirm, { method: "POST" })).text).toContain("You are subscribed");
  expect(await subscribers()).toMatchObject([{ status: "confirmed" }]);

  const { id } = await made.incident({
    title: "Checkout fails",
    severity: "major",
    message: "We look.",
  });
  await send();
  const told = mails[1];
  expect(told?.headers["subject"]).toEqual(["Investigating: Checkout fails – Acme status"]);
  expect(told?.text).toContain("We look.");
  expect(told?.text).toContain(`/status/ours/incidents/${id}`);
  expect(told?.headers["list-unsubscribe-post"]).toEqual(["List-Unsubscribe=One-Click"]);
  const unsubscribe = linkIn(told?.headers["list-unsubscribe"]?.[0] ?? "", "unsubscribe");
  const form = { "List-Unsubscribe": "One-Click" };
  expect((await get(unsubscribe, { method: "POST", form })).status).toBe(200);
  expect(await subscribers()).toEqual([]);
  await made.post(id, { status: "resolved" });
  await send();
  expect(mails.length).toBe(2);
});
